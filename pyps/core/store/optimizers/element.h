// What all optimizers have in common: settings, the loop over a value's elements, and how a result is rounded.
//
// Values of 16 bits are read as float32, and state is float32; a result is rounded up or down at random, so that steps
// smaller than the value's last place have their effect in the mean. float64 is computed in float64.
#pragma once

#include <cmath>
#include <cstdint>

#include "store/formats.h"
#include "store/kernels.h"
#include "store/processors.h"
#include "store/rules.h"

namespace ps {

// The settings that every optimizer begins with.
enum CommonSetting { lr, weight_decay, maximize, refuse_nan, first_own };

// These settings with an optimizer's own behind them.
inline Settings settings_of(double usual_lr, double usual_decay, std::initializer_list<Setting> own) {
    Settings all = {{"lr", usual_lr},
                    {"weight_decay", usual_decay},
                    {"maximize", 0, HUGE_VAL, Setting::flag},
                    {"refuse_nan", 0, HUGE_VAL, Setting::flag}};
    all.insert(all.end(), own.begin(), own.end());
    return all;
}

template <class Number>
struct Whole {
    using Stored = Number;
    using Real = Number;
    static constexpr bool is_rounded = false;
    [[gnu::always_inline]] static Real widen(Stored number) { return number; }
    [[gnu::always_inline]] static Stored narrow(Real number, uint32_t) { return number; }
};

template <class Format>
struct Half {
    using Stored = uint16_t;
    using Real = float;
    static constexpr bool is_rounded = true;
    [[gnu::always_inline]] static Real widen(Stored number) { return Format::widen(number); }
    [[gnu::always_inline]] static Stored narrow(Real number, uint32_t noise) {
        return Format::narrow_at_random(number, noise);
    }
};

// Random bits for an element (the hash lowbias32 of C. Wellons).
[[gnu::always_inline]] inline uint32_t noise_of(uint32_t seed, uint32_t element) {
    uint32_t word = seed + element * 0x9e3779b9;
    word = (word ^ word >> 16) * 0x7feb352d;
    word = (word ^ word >> 15) * 0x846ca68b;
    return word ^ word >> 16;
}

// Takes every element w, with its gradient g, to step(w, g, i).
template <class Element, class Step>
[[gnu::always_inline]] inline void for_elements(char *value, const char *gradient, uint32_t length,
                                                RuleSettings &settings, const Step &step) {
    using Real = typename Element::Real;
    auto *to = reinterpret_cast<typename Element::Stored *>(value);
    auto *from = reinterpret_cast<const typename Element::Stored *>(gradient);
    const Real sign = settings.number[maximize] != 0 ? Real(-1) : Real(1);
    if constexpr (Element::is_rounded) settings.noise = settings.noise * 0x5851f42d4c957f2d + 0x14057b7ef767814f;
    const auto seed = uint32_t(settings.noise >> 32);
#pragma GCC ivdep
    for (uint32_t i = 0; i < length; i++)
        to[i] = Element::narrow(step(Element::widen(to[i]), sign * Element::widen(from[i]), i),
                                Element::is_rounded ? noise_of(seed, i) : 0);
}

// The elements of a value's state, of which there are several for each of the value's. Before them comes a count of
// steps if the optimizer has one.
inline uint64_t real_bytes(int32_t dtype) { return dtype == PS_FLOAT64 ? sizeof(double) : sizeof(float); }
template <class Real>
[[gnu::always_inline]] inline Real *reals(char *state, bool counts_steps = false) {
    return reinterpret_cast<Real *>(state + (counts_steps ? sizeof(uint64_t) : 0));
}
[[gnu::always_inline]] inline uint64_t count_step(char *state) { return ++*reinterpret_cast<uint64_t *>(state); }

// The rule of an optimizer: Optimizer::apply<Element> for each dtype.
template <class Optimizer>
Rule optimizer(const char *name, Settings settings, void (*check)(const RuleSettings &) = nullptr) {
    Rule rule{name, {}, {}, false, Optimizer::state_bytes, std::move(settings), check};
    rule.apply[PS_FLOAT32] = for_processors<Optimizer::template apply<Whole<float>>>.best();
    rule.apply[PS_FLOAT64] = for_processors<Optimizer::template apply<Whole<double>>>.best();
    rule.apply[PS_FLOAT16] = for_processors<Optimizer::template apply<Half<Float16>>>.best();
    rule.apply[PS_BFLOAT16] = for_processors<Optimizer::template apply<Half<BFloat16>>>.best();
    for (int32_t dtype : {PS_FLOAT32, PS_FLOAT64, PS_FLOAT16, PS_BFLOAT16}) rule.merge[dtype] = merge_kernel(dtype);
    return rule;
}

} // namespace ps
