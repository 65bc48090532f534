#include "store/initializer.h"

#include <cmath>
#include <vector>

#include "errors.h"
#include "random.h"
#include "store/formats.h"
#include "store/kernels.h"
#include "store/settings.h"

namespace ps {

namespace {

using Draw = double (*)(Random &random, const double *settings);

struct InitializerKind {
    const char *name;
    Settings settings;
    Draw draw;
    bool for_integers; // whether it is for dtypes of whole numbers too
    void (*check)(const double *settings) = nullptr;
};

double draw_constant(Random &, const double *settings) { return settings[0]; }

double draw_uniform(Random &random, const double *settings) {
    return settings[0] + (settings[1] - settings[0]) * random.unit();
}

void check_uniform(const double *settings) {
    if (!(settings[0] <= settings[1]) || !std::isfinite(settings[1] - settings[0]))
        fail(PS_EINVAL, Where{}, "low is %g and high %g; low must not be above high, nor so far below", settings[0],
             settings[1]);
}

// G. Box, M. Muller, "A Note on the Generation of Random Normal Deviates", Annals of Mathematical Statistics 29, 1958;
// one of the two numbers of a pair.
double draw_normal(Random &random, const double *settings) {
    constexpr double two_pi = 6.283185307179586;
    const double radius = std::sqrt(-2 * std::log(random.positive()));
    return settings[0] + settings[1] * radius * std::cos(two_pi * random.unit());
}

const std::vector<InitializerKind> &initializer_kinds() {
    static const Setting seed{"seed", 0, HUGE_VAL, Setting::whole};
    static const std::vector<InitializerKind> all = {
        {"zeros", {}, draw_constant, true},
        {"constant", {{"value", 0, HUGE_VAL, Setting::any}}, draw_constant, true},
        {"uniform",
         {{"low", 0, HUGE_VAL, Setting::any}, {"high", 1, HUGE_VAL, Setting::any}, seed},
         draw_uniform,
         false,
         check_uniform},
        {"normal", {{"mean", 0, HUGE_VAL, Setting::any}, {"std", 1}, seed}, draw_normal, false},
    };
    return all;
}

template <class Element, class Narrow>
void fill_with(char *value, uint32_t length, const InitializerKind &kind, const double *settings, Random random,
               Narrow narrow) {
    auto *elements = reinterpret_cast<Element *>(value);
    for (uint32_t i = 0; i < length; i++) elements[i] = narrow(kind.draw(random, settings));
}

bool counts_wholes(int32_t dtype) { return dtype == PS_INT32 || dtype == PS_INT64; }

// Whether the number is one of the dtype's whole numbers.
bool fits(double number, int32_t dtype) {
    const double end = dtype == PS_INT32 ? 0x1p31 : 0x1p63;
    return number == std::floor(number) && number >= -end && number < end;
}

} // namespace

Initializer Initializer::read(const std::string &text) {
    Initializer read;
    if (text.empty()) return read;
    const InitializerKind *begin = initializer_kinds().data(), *end = begin + initializer_kinds().size();
    const InitializerKind &kind = read_named("initializer", begin, end, text, read.settings);
    if (kind.check) kind.check(read.settings);
    read.number = uint32_t(&kind - begin);
    return read;
}

std::string Initializer::describe() const {
    const InitializerKind &kind = initializer_kinds()[number];
    return is_zeros() ? "" : describe_settings(kind.name, kind.settings, settings);
}

void Initializer::require(int32_t dtype) const {
    const InitializerKind &kind = initializer_kinds()[number];
    if (!counts_wholes(dtype)) return;
    if (!kind.for_integers)
        fail(PS_EINVAL, Where{-1, dtype, int64_t(number)}, "initializer %s is not for %s", kind.name,
             name_of_dtype(dtype));
    if (!fits(settings[0], dtype))
        fail(PS_EINVAL, Where{-1, dtype, int64_t(number)}, "values begin with %g, which is not one of %s's numbers",
             settings[0], name_of_dtype(dtype));
}

void Initializer::fill(char *value, uint32_t length, int32_t dtype, uint64_t key) const {
    const InitializerKind &kind = initializer_kinds()[number];
    // Kinds without a seed draw nothing.
    const Random random(kind.settings.size() == most_settings ? uint64_t(settings[most_settings - 1]) : 0, key);
    auto with = [&](auto element, auto narrow) {
        fill_with<decltype(element)>(value, length, kind, settings, random, narrow);
    };
    switch (dtype) {
    case PS_FLOAT32: return with(float(), [](double number) { return float(number); });
    case PS_FLOAT64: return with(double(), [](double number) { return number; });
    case PS_FLOAT16: return with(uint16_t(), [](double number) { return Float16::narrow(float(number)); });
    case PS_BFLOAT16: return with(uint16_t(), [](double number) { return BFloat16::narrow(float(number)); });
    case PS_INT32: return with(int32_t(), [](double number) { return int32_t(number); });
    default: return with(int64_t(), [](double number) { return int64_t(number); });
    }
}

} // namespace ps
