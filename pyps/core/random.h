// Random numbers: xoshiro256++ (D. Blackman, S. Vigna, "Scrambled Linear Pseudorandom Number Generators", ACM TOMS 47,
// 2021), whose state comes from splitmix64 (G. Steele, D. Lea, C. Flood, "Fast Splittable Pseudorandom Number
// Generators", OOPSLA 2014). The same numbers on every machine.
#pragma once

#include <cstdint>

#include "mixing.h"

namespace ps {

class Random {
public:
    Random(uint64_t seed, uint64_t stream) {
        uint64_t at = mix(mix(seed + golden) + stream);
        for (uint64_t &word : state_) word = mix(at += golden);
    }

    // At least one word must not be 0.
    explicit Random(const uint64_t (&state)[4]) : state_{state[0], state[1], state[2], state[3]} {}

    uint64_t next() {
        uint64_t result = rotate(state_[0] + state_[3], 23) + state_[0];
        uint64_t shifted = state_[1] << 17;
        state_[2] ^= state_[0];
        state_[3] ^= state_[1];
        state_[1] ^= state_[2];
        state_[0] ^= state_[3];
        state_[2] ^= shifted;
        state_[3] = rotate(state_[3], 45);
        return result;
    }

    // In [0, bound), each equally likely (D. Lemire, "Fast Random Integer Generation in an Interval", ACM TOMACS 29,
    // 2019).
    uint64_t below(uint64_t bound) {
        Wide product = Wide(next()) * bound;
        if (uint64_t(product) < bound)
            for (uint64_t least = -bound % bound; uint64_t(product) < least;) product = Wide(next()) * bound;
        return uint64_t(product >> 64);
    }

    double unit() { return double(next() >> 11) * 0x1p-53; }           // in [0, 1)
    double positive() { return (double(next() >> 11) + 1) * 0x1p-53; } // in (0, 1]

private:
    __extension__ using Wide = unsigned __int128;
    static constexpr uint64_t golden = 0x9e3779b97f4a7c15;

    static uint64_t rotate(uint64_t word, int bits) { return word << bits | word >> (64 - bits); }

    uint64_t state_[4];
};

} // namespace ps
