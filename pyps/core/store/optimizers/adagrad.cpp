// Adagrad (J. Duchi et al., 2011), as torch.optim.Adagrad has it. State: steps, if the learning rate decays | sums of
// squares, without the initial value.
#include "store/optimizers/element.h"
#include "store/optimizers/optimizers.h"

namespace ps {

namespace {

struct Adagrad {
    enum { lr_decay = first_own, initial_accumulator_value, eps };

    static uint64_t state_bytes(uint32_t length, int32_t dtype, const RuleSettings &settings) {
        return (settings.number[lr_decay] != 0 ? sizeof(uint64_t) : 0) + length * real_bytes(dtype);
    }

    template <class Element>
    [[gnu::always_inline]] static void apply(char *value, const char *gradient, uint32_t length, char *state,
                                             RuleSettings &settings) {
        using Real = typename Element::Real;
        const bool counts = settings.number[lr_decay] != 0;
        const double slower = counts ? 1 + double(count_step(state) - 1) * settings.number[lr_decay] : 1;
        const auto rate = Real(settings.number[lr] / slower), decay = Real(settings.number[weight_decay]);
        const auto begin = Real(settings.number[initial_accumulator_value]), least = Real(settings.number[eps]);
        Real *sums = reals<Real>(state, counts);
        for_elements<Element>(value, gradient, length, settings,
                              [=](Real w, Real g, uint32_t i) __attribute__((always_inline)) {
                                  g += decay * w;
                                  sums[i] += g * g;
                                  return w - rate * g / (std::sqrt(sums[i] + begin) + least);
                              });
    }
};

} // namespace

Rule make_adagrad() {
    return optimizer<Adagrad>("adagrad", settings_of(1e-2, 0,
                                                     {{"lr_decay", 0, HUGE_VAL, Setting::number, true},
                                                      {"initial_accumulator_value", 0},
                                                      {"eps", 1e-10}}));
}

} // namespace ps
