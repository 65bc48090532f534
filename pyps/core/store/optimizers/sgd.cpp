// Stochastic gradient descent, as torch.optim.SGD has it. State with momentum: steps | momentum buffer.
#include "errors.h"
#include "store/optimizers/element.h"
#include "store/optimizers/optimizers.h"

namespace ps {

namespace {

struct Sgd {
    enum { momentum = first_own, dampening, nesterov };

    static uint64_t state_bytes(uint32_t length, int32_t dtype, const RuleSettings &settings) {
        return settings.number[momentum] != 0 ? sizeof(uint64_t) + length * real_bytes(dtype) : 0;
    }

    static void check(const RuleSettings &settings) {
        if (settings.number[nesterov] != 0 && (settings.number[momentum] == 0 || settings.number[dampening] != 0))
            fail(PS_EINVAL, Where{}, "nesterov requires a momentum and no dampening; they are %g and %g",
                 settings.number[momentum], settings.number[dampening]);
    }

    template <class Element>
    [[gnu::always_inline]] static void apply(char *value, const char *gradient, uint32_t length, char *state,
                                             RuleSettings &settings) {
        using Real = typename Element::Real;
        const auto rate = Real(settings.number[lr]), decay = Real(settings.number[weight_decay]);
        if (!state) {
            for_elements<Element>(value, gradient, length, settings,
                                  [=](Real w, Real g, uint32_t)
                                      __attribute__((always_inline)) { return w - rate * (g + decay * w); });
            return;
        }
        const bool is_first = count_step(state) == 1;
        const auto inertia = Real(settings.number[momentum]);
        const Real keep = is_first ? Real(0) : inertia, take = is_first ? 1 : Real(1 - settings.number[dampening]);
        // The step is ahead * g + behind * buffer.
        const Real ahead = settings.number[nesterov] != 0 ? 1 : 0, behind = ahead != 0 ? inertia : 1;
        Real *buffer = reals<Real>(state, true);
        for_elements<Element>(value, gradient, length, settings,
                              [=](Real w, Real g, uint32_t i) __attribute__((always_inline)) {
                                  g += decay * w;
                                  buffer[i] = keep * buffer[i] + take * g;
                                  return w - rate * (ahead * g + behind * buffer[i]);
                              });
    }
};

} // namespace

Rule make_sgd() {
    return optimizer<Sgd>("sgd",
                          settings_of(1e-3, 0,
                                      {{"momentum", 0, HUGE_VAL, Setting::number, true},
                                       {"dampening", 0},
                                       {"nesterov", 0, HUGE_VAL, Setting::flag}}),
                          Sgd::check);
}

} // namespace ps
