// RMSprop (T. Tieleman and G. Hinton, 2012), as torch.optim.RMSprop has it. State: means of squares | if centered,
// means | with momentum, its buffer.
#include "store/optimizers/element.h"
#include "store/optimizers/optimizers.h"

namespace ps {

namespace {

struct RmsProp {
    enum { alpha = first_own, eps, momentum, centered };

    static uint64_t state_bytes(uint32_t length, int32_t dtype, const RuleSettings &settings) {
        const uint64_t parts = 1 + (settings.number[centered] != 0) + (settings.number[momentum] != 0);
        return parts * length * real_bytes(dtype);
    }

    template <class Element>
    [[gnu::always_inline]] static void apply(char *value, const char *gradient, uint32_t length, char *state,
                                             RuleSettings &settings) {
        using Real = typename Element::Real;
        const double *known = settings.number;
        const auto rate = Real(known[lr]), decay = Real(known[weight_decay]), least = Real(known[eps]);
        const auto old = Real(known[alpha]), news = Real(1 - known[alpha]), inertia = Real(known[momentum]);
        const bool is_centered = known[centered] != 0, has_momentum = known[momentum] != 0;
        Real *squares = reals<Real>(state), *means = squares + length;
        Real *buffer = is_centered ? means + length : means;
        auto step = [=](Real g, uint32_t i, Real mean) __attribute__((always_inline)) {
            squares[i] = old * squares[i] + news * g * g;
            return g / (std::sqrt(squares[i] - mean * mean) + least);
        };
        auto mean_of = [=](Real g, uint32_t i) __attribute__((always_inline)) {
            return is_centered ? means[i] += news * (g - means[i]) : Real(0);
        };
        if (has_momentum)
            for_elements<Element>(value, gradient, length, settings,
                                  [=](Real w, Real g, uint32_t i) __attribute__((always_inline)) {
                                      g += decay * w;
                                      buffer[i] = inertia * buffer[i] + step(g, i, mean_of(g, i));
                                      return w - rate * buffer[i];
                                  });
        else
            for_elements<Element>(value, gradient, length, settings,
                                  [=](Real w, Real g, uint32_t i) __attribute__((always_inline)) {
                                      g += decay * w;
                                      return w - rate * step(g, i, mean_of(g, i));
                                  });
    }
};

} // namespace

Rule make_rmsprop() {
    return optimizer<RmsProp>("rmsprop", settings_of(1e-2, 0,
                                                     {{"alpha", 0.99, 1},
                                                      {"eps", 1e-8},
                                                      {"momentum", 0, HUGE_VAL, Setting::number, true},
                                                      {"centered", 0, HUGE_VAL, Setting::flag, true}}));
}

} // namespace ps
