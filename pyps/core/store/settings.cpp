#include "store/settings.h"

#include <algorithm>
#include <charconv>

#include "errors.h"

namespace ps {

namespace {

constexpr double most_whole = 0x1p53; // whole numbers up to here are exact as a double

[[noreturn]] void refuse_name(const char *owner, const Settings &settings, const std::string &name) {
    std::string names;
    for (const Setting &setting : settings) names += (names.empty() ? "" : ", ") + std::string(setting.name);
    fail(PS_EINVAL, Where{}, "%s has no %.40s; it has %s", owner, name.c_str(),
         names.empty() ? "no settings" : names.c_str());
}

double read_number(const Setting &setting, const std::string &text) {
    double number = NAN;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
        fail(PS_EINVAL, Where{}, "%s is '%.40s'; it must be a number", setting.name, text.c_str());
    if (setting.takes(number)) return number;
    switch (setting.kind) {
    case Setting::flag: fail(PS_EINVAL, Where{}, "%s is %g; it must be 0 or 1", setting.name, number);
    case Setting::any: fail(PS_EINVAL, Where{}, "%s is %g; it must be a finite number", setting.name, number);
    case Setting::whole:
        fail(PS_EINVAL, Where{}, "%s is %g; it must be a whole number in [0, 2^53]", setting.name, number);
    default: fail(PS_EINVAL, Where{}, "%s is %g; it must be in [0, %g)", setting.name, number, setting.below);
    }
}

} // namespace

bool Setting::takes(double value) const {
    switch (kind) {
    case flag: return value == 0 || value == 1;
    case any: return std::isfinite(value);
    case whole: return value >= 0 && value <= most_whole && value == std::floor(value);
    default: return value >= 0 && value < below;
    }
}

void read_settings(const char *owner, const Settings &settings, const std::string &text, double *numbers) {
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find(',', at), text.size()), equals = text.find('=', at);
        if (equals >= end)
            fail(PS_EINVAL, Where{}, "'%.40s' is no setting; write one as lr=0.1", text.substr(at, end - at).c_str());
        const std::string wanted = text.substr(at, equals - at);
        size_t i = 0;
        while (i < settings.size() && wanted != settings[i].name) i++;
        if (i == settings.size()) refuse_name(owner, settings, wanted);
        numbers[i] = read_number(settings[i], text.substr(equals + 1, end - equals - 1));
        at = end + 1;
    }
}

std::string describe_settings(const char *owner, const Settings &settings, const double *numbers) {
    std::string text = owner;
    for (size_t i = 0; i < settings.size(); i++) {
        char number[32];
        auto written = std::to_chars(number, number + sizeof number, numbers[i]);
        text += (i == 0 ? ":" : ",") + std::string(settings[i].name) + "=" + std::string(number, written.ptr);
    }
    return text;
}

void refuse_unknown(const char *what, const std::string &name, const std::string &names) {
    fail(PS_EINVAL, Where{}, "%s %.40s is unknown; there are %s", what, name.c_str(), names.c_str());
}

} // namespace ps
