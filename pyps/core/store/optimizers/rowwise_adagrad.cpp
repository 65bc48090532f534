// Adagrad with one sum for a whole value: the sum of the means of its squared gradients, as FBGEMM's row-wise Adagrad
// has it. State: the sum, in 8 bytes.
#include "store/optimizers/element.h"
#include "store/optimizers/optimizers.h"

namespace ps {

namespace {

struct RowwiseAdagrad {
    enum { initial_accumulator_value = first_own, eps };

    static uint64_t state_bytes(uint32_t, int32_t, const RuleSettings &) { return sizeof(uint64_t); }

    template <class Element>
    [[gnu::always_inline]] static void apply(char *value, const char *gradient, uint32_t length, char *state,
                                             RuleSettings &settings) {
        using Real = typename Element::Real;
        const auto decay = Real(settings.number[weight_decay]);
        auto *sum = reals<Real>(state);
        *sum += squares<Element>(value, gradient, length, settings, decay) / Real(length);
        const Real root = std::sqrt(*sum + Real(settings.number[initial_accumulator_value]));
        const Real rate = Real(settings.number[lr]) / (root + Real(settings.number[eps]));
        for_elements<Element>(value, gradient, length, settings,
                              [=](Real w, Real g, uint32_t)
                                  __attribute__((always_inline)) { return w - rate * (g + decay * w); });
    }

private:
    // Eight sums side by side, as a loop with one sum would not become vector code.
    template <class Element>
    [[gnu::always_inline]] static typename Element::Real squares(const char *value, const char *gradient,
                                                                 uint32_t length, const RuleSettings &settings,
                                                                 typename Element::Real decay) {
        using Real = typename Element::Real;
        auto *from = reinterpret_cast<const typename Element::Stored *>(gradient);
        auto *now = reinterpret_cast<const typename Element::Stored *>(value);
        const Real sign = settings.number[maximize] != 0 ? Real(-1) : Real(1);
        using Lanes [[gnu::vector_size(8 * sizeof(Real))]] = Real;
        Lanes sums = {};
        Real rest = 0;
        auto square = [=](uint32_t i) __attribute__((always_inline)) {
            const Real g = sign * Element::widen(from[i]) + decay * Element::widen(now[i]);
            return g * g;
        };
        uint32_t i = 0;
        for (; i + 8 <= length; i += 8)
            sums += Lanes{square(i),     square(i + 1), square(i + 2), square(i + 3),
                          square(i + 4), square(i + 5), square(i + 6), square(i + 7)};
        for (; i < length; i++) rest += square(i);
        for (int lane = 0; lane < 8; lane++) rest += sums[lane];
        return rest;
    }
};

} // namespace

Rule make_rowwise_adagrad() {
    return optimizer<RowwiseAdagrad>("rowwise_adagrad",
                                     settings_of(1e-2, 0, {{"initial_accumulator_value", 0}, {"eps", 1e-10}}));
}

} // namespace ps
