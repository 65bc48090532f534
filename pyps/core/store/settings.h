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

// Takes a text like "adagrad:lr=0.1" apart.
struct NamedSettings {
    std::string name, settings;
    explicit NamedSettings(const std::string &text);
};

[[noreturn]] void refuse_unknown(const char *what, const std::string &name, const std::string &names);

// The row of a table that has the name. Throws PS_EINVAL, which names them all; `what` is what they are.
template <class Row>
const Row &row_named(const char *what, const Row *begin, const Row *end, const std::string &name) {
    std::string names;
    for (const Row *row = begin; row != end; ++row) {
        if (name == row->name) return *row;
        names += (names.empty() ? "" : ", ") + std::string(row->name);
    }
    refuse_unknown(what, name, names);
}

} // namespace ps
