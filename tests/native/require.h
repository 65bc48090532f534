// What must hold in tests that draw what happens: a failure names the seed that it was drawn from.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace ps {

inline uint64_t seed; // of the run, which a failure names
#define REQUIRE(condition)                                                                                             \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            std::fprintf(stderr, "seed %llu: %s:%d: %s\n", static_cast<unsigned long long>(seed), __FILE__, __LINE__,  \
                         #condition);                                                                                  \
            std::exit(1);                                                                                              \
        }                                                                                                              \
    } while (0)

} // namespace ps
