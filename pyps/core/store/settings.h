// Settings of rules and initializers, and how they are written as text: "lr=0.1,eps=1e-10".
#pragma once

#include <cmath>
#include <string>
#include <vector>

namespace ps {

struct Setting {
    // number: at least 0; flag: 0 or 1; any: also below 0; whole: a whole number from 0 to 2^53
    enum Kind { number, flag, any, whole };

    const char *name;
    double otherwise; // if it is not given
    double below = HUGE_VAL; // it must be less than this
    Kind kind = number;
    bool shapes_state = false; // the state's size depends on whether it is 0, so that cannot change

    bool takes(double value) const;
};
using Settings = std::vector<Setting>;

// Writes the numbers that the text names, by the settings' order. `owner` is what has them. Throws PS_EINVAL, which
// names what fits.
void read_settings(const char *owner, const Settings &settings, const std::string &text, double *numbers);
std::string describe_settings(const char *owner, const Settings &settings, const double *numbers); // "owner:lr=0.1,..."

[[noreturn]] void refuse_unknown(const char *what, const std::string &name, const std::string &names);

// The row of a table that a text like "adagrad:lr=0.1" names, with its settings: those of the text, all others as they
// are if they are not given. Throws PS_EINVAL, which names what fits; `what` is what the rows are.
template <class Row>
const Row &read_named(const char *what, const Row *begin, const Row *end, const std::string &text, double *numbers) {
    const size_t colon = text.find(':');
    const std::string name = text.substr(0, colon);
    std::string names;
    for (const Row *row = begin; row != end; ++row) {
        if (name == row->name) {
            for (size_t i = 0; i < row->settings.size(); i++) numbers[i] = row->settings[i].otherwise;
            if (colon != std::string::npos) read_settings(row->name, row->settings, text.substr(colon + 1), numbers);
            return *row;
        }
        names += (names.empty() ? "" : ", ") + std::string(row->name);
    }
    refuse_unknown(what, name, names);
}

} // namespace ps
