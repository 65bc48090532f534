// FTRL-Proximal (H. B. McMahan et al., "Ad click prediction: a view from the trenches", 2013, algorithm 1). State: sums
// of squares | z. A value with no state is where z begins, so a value that was set is kept until its first gradient and
// then moves from there.
#include "errors.h"
#include "store/optimizers/element.h"
#include "store/optimizers/optimizers.h"

namespace ps {

namespace {

struct Ftrl {
    enum { beta = first_own, l1, l2 };

    static uint64_t state_bytes(uint32_t length, int32_t dtype, const RuleSettings &) {
        return 2 * length * real_bytes(dtype);
    }

    static void check(const RuleSettings &settings) {
        if (settings.number[lr] == 0) fail(PS_EINVAL, Where{}, "lr is 0; for ftrl it must be in (0, inf)");
    }

    template <class Element>
    [[gnu::always_inline]] static void apply(char *value, const char *gradient, uint32_t length, char *state,
                                             RuleSettings &settings) {
        using Real = typename Element::Real;
        const auto slow = Real(1 / settings.number[lr]), decay = Real(settings.number[weight_decay]);
        const auto damped = Real(settings.number[beta]), lasso = Real(settings.number[l1]);
        const auto ridge = Real(settings.number[l2]);
        Real *sums = reals<Real>(state), *z = sums + length;
        for_elements<Element>(value, gradient, length, settings,
                              [=](Real w, Real g, uint32_t i) __attribute__((always_inline)) {
                                  g += decay * w;
                                  const Real side = w > 0 ? lasso : w < 0 ? -lasso : Real(0);
                                  const bool begins = sums[i] == 0 && z[i] == 0;
                                  const Real before = begins ? -w * (damped * slow + ridge) - side : z[i];
                                  const Real more = sums[i] + g * g, root = std::sqrt(more);
                                  const Real now = before + g - (root - std::sqrt(sums[i])) * slow * w;
                                  sums[i] = more;
                                  z[i] = now;
                                  const Real size = now < 0 ? -now : now, kept = size > lasso ? size - lasso : Real(0);
                                  const Real weight = (damped + root) * slow + ridge;
                                  const Real moved = now > 0 ? -kept / weight : kept / weight;
                                  return weight > 0 ? moved : w; // 0: no gradient yet, and nothing that damps
                              });
    }
};

} // namespace

Rule make_ftrl() {
    return optimizer<Ftrl>("ftrl", settings_of(0.1, 0, {{"beta", 1}, {"l1", 0}, {"l2", 0}}), Ftrl::check);
}

} // namespace ps
