// Adam (D. Kingma and J. Ba, 2015) and AdamW (I. Loshchilov and F. Hutter, 2019), as torch.optim has them. A key's
// steps are counted by itself, so a key whose gradients are rare has the right corrections of its means. State: steps |
// means | means of squares | with amsgrad, the greatest of the latter.
#include "store/optimizers/element.h"
#include "store/optimizers/optimizers.h"

namespace ps {

namespace {

template <bool is_decoupled> // the decay shrinks the value instead of being a part of the gradient
struct Adam {
    enum { beta1 = first_own, beta2, eps, amsgrad };

    static uint64_t state_bytes(uint32_t length, int32_t dtype, const RuleSettings &settings) {
        return sizeof(uint64_t) + (settings.number[amsgrad] != 0 ? 3 : 2) * length * real_bytes(dtype);
    }

    // 1 - beta^steps, for both betas.
    static void correct(uint64_t steps, RuleSettings &settings) {
        if (steps == settings.steps) return;
        for (int i : {0, 1}) {
            if (settings.steps == 0) settings.once[i] = std::log(settings.number[beta1 + i]);
            settings.of_steps[i] = 1 - std::exp(settings.once[i] * double(steps));
        }
        settings.steps = steps;
    }

    template <class Element>
    [[gnu::always_inline]] static void apply(char *value, const char *gradient, uint32_t length, char *state,
                                             RuleSettings &settings) {
        using Real = typename Element::Real;
        const double *known = settings.number;
        correct(count_step(state), settings);
        const double first = settings.of_steps[0], second = settings.of_steps[1];
        const auto rate = Real(known[lr] / first), spread = Real(1 / std::sqrt(second)), least = Real(known[eps]);
        const auto news = Real(1 - known[beta1]), old = Real(known[beta2]), square = Real(1 - known[beta2]);
        const Real decay = is_decoupled ? Real(0) : Real(known[weight_decay]);
        const Real shrink = is_decoupled ? Real(1 - known[lr] * known[weight_decay]) : Real(1);
        Real *means = reals<Real>(state, true), *squares = means + length, *greatest = squares + length;
        const bool keeps_greatest = known[amsgrad] != 0;
        auto advance = [=](Real w, Real g, uint32_t i) __attribute__((always_inline)) {
            g += decay * w;
            means[i] += news * (g - means[i]);
            squares[i] = old * squares[i] + square * g * g;
        };
        auto moved = [=](Real w, uint32_t i, Real variance) __attribute__((always_inline)) {
            return shrink * w - rate * means[i] / (std::sqrt(variance) * spread + least);
        };
        if (keeps_greatest)
            for_elements<Element>(value, gradient, length, settings,
                                  [=](Real w, Real g, uint32_t i) __attribute__((always_inline)) {
                                      advance(w, g, i);
                                      greatest[i] = greatest[i] > squares[i] ? greatest[i] : squares[i];
                                      return moved(w, i, greatest[i]);
                                  });
        else
            for_elements<Element>(value, gradient, length, settings,
                                  [=](Real w, Real g, uint32_t i) __attribute__((always_inline)) {
                                      advance(w, g, i);
                                      return moved(w, i, squares[i]);
                                  });
    }
};

template <bool is_decoupled>
Rule make(const char *name, double usual_decay) {
    return optimizer<Adam<is_decoupled>>(
        name,
        settings_of(
            1e-3, usual_decay,
            {{"beta1", 0.9, 1}, {"beta2", 0.999, 1}, {"eps", 1e-8}, {"amsgrad", 0, HUGE_VAL, Setting::flag, true}}));
}

} // namespace

Rule make_adam() { return make<false>("adam", 0); }
Rule make_adamw() { return make<true>("adamw", 1e-2); }

} // namespace ps
