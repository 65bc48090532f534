// What the values of keys begin with: a table with a row for each kind.
//
// What is drawn depends on the seed and the key alone. So it is the same whichever node makes the value, and again
// after a restart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "ps.h"

namespace ps {

// One of the kinds with its settings. Plain data: it is part of a store's header.
struct Initializer {
    static constexpr size_t most_settings = 3;

    uint32_t number = 0; // of the kind; 0: zeros
    double settings[most_settings] = {};

    // What a text like "uniform:low=-0.1,high=0.1,seed=7" asks for; an empty text: zeros. Throws PS_EINVAL.
    static Initializer read(const std::string &text);
    std::string describe() const; // with all settings; empty: zeros
    void require(int32_t dtype) const; // throws PS_EINVAL unless values of the dtype can begin so

    bool is_zeros() const { return number == 0; }
    void fill(char *value, uint32_t length, int32_t dtype, uint64_t key) const;
};

} // namespace ps
