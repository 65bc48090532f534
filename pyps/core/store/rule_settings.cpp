// A rule's settings as text.
#include <charconv>
#include <cmath>

#include "errors.h"
#include "store/rules.h"

namespace ps {

namespace {

[[noreturn]] void refuse_name(const Rule &rule, const std::string &name) {
    std::string names;
    for (const Setting &setting : rule.settings) names += (names.empty() ? "" : ", ") + std::string(setting.name);
    fail(PS_EINVAL, Where{}, "%s has no %.40s; it has %s", rule.name, name.c_str(), names.c_str());
}

double read_number(const Setting &setting, const std::string &text) {
    double number = NAN;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size())
        fail(PS_EINVAL, Where{}, "%s is '%.40s'; it must be a number", setting.name, text.c_str());
    if (setting.takes(number)) return number;
    if (setting.kind == Setting::flag) fail(PS_EINVAL, Where{}, "%s is %g; it must be 0 or 1", setting.name, number);
    fail(PS_EINVAL, Where{}, "%s is %g; it must be in [0, %g)", setting.name, number, setting.below);
}

} // namespace

RuleSettings Rule::read_settings(const std::string &text, RuleSettings known) const {
    for (size_t at = 0; at < text.size();) {
        const size_t end = std::min(text.find(',', at), text.size()), equals = text.find('=', at);
        if (equals >= end)
            fail(PS_EINVAL, Where{}, "'%.40s' is no setting; write one as lr=0.1", text.substr(at, end - at).c_str());
        const std::string wanted = text.substr(at, equals - at);
        size_t i = 0;
        while (i < settings.size() && wanted != settings[i].name) i++;
        if (i == settings.size()) refuse_name(*this, wanted);
        known.number[i] = read_number(settings[i], text.substr(equals + 1, end - equals - 1));
        at = end + 1;
    }
    if (check) check(known);
    return known;
}

std::string Rule::describe(const RuleSettings &known) const {
    std::string text = name;
    for (size_t i = 0; i < settings.size(); i++) {
        char number[32];
        auto written = std::to_chars(number, number + sizeof number, known.number[i]);
        text += (i == 0 ? ":" : ",") + std::string(settings[i].name) + "=" + std::string(number, written.ptr);
    }
    return text;
}

} // namespace ps
