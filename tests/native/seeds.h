// The seeds that a program runs, one after another, and what a run draws from its seed.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>

#include "require.h"

namespace ps {

struct Chance {
    explicit Chance(uint64_t seed) : random(seed) {}
    uint64_t draw(uint64_t below) { return random() % below; }

    std::mt19937_64 random;
};

// FIRST LAST: the first two arguments of the program.
struct Seeds {
    Seeds(int count, char **arguments)
        : first(count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 0),
          last(count > 2 ? std::strtoull(arguments[2], nullptr, 10) : first + 10'000) {}

    template <class Body>
    void for_each(Body &&body) const {
        for (seed = first; seed <= last; seed++) {
            try {
                body(seed);
            } catch (const std::exception &error) {
                std::fprintf(stderr, "seed %llu: %s:%d: %s\n", static_cast<unsigned long long>(seed), __FILE__,
                             __LINE__, error.what());
                std::exit(1);
            }
        }
    }

    const uint64_t first, last;
};

} // namespace ps
