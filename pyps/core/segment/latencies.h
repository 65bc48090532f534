// How long operations took, counted by length of time. Lies in shared memory; all workers of a node write it, so that
// nothing of it goes with a worker.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "counting.h"
#include "ps.h"

namespace ps {

constexpr int shortest_octave = 5; // the first count is of times below 2^5 ns; then there are four for each octave

// The time that count i and those before it stay below, in ns. The last count has no limit.
constexpr int64_t latency_limit(int32_t i) {
    if (i >= PS_LATENCY_COUNTS - 1) return INT64_MAX;
    return i == 0 ? int64_t(1) << shortest_octave : int64_t((i - 1) % 4 + 5) << (shortest_octave - 2 + (i - 1) / 4);
}

constexpr int32_t latency_count_of(int64_t ns) {
    if (ns < latency_limit(0)) return 0;
    const int octave = 63 - __builtin_clzll(uint64_t(ns));
    const auto quarter = int(ns >> (octave - 2) & 3);
    return std::min(1 + (octave - shortest_octave) * 4 + quarter, PS_LATENCY_COUNTS - 1);
}

// Of the operations that need no other node, the workers time every 61st of a kind: a prime number, so that no rhythm
// of a program hides some of them.
constexpr int64_t timed_every = 61;

struct Latencies { // consists of these atomics only
    std::atomic<int64_t> total_ns;
    std::atomic<int64_t> counts[PS_LATENCY_COUNTS];

    void add(double seconds) {
        const auto ns = int64_t(seconds * 1e9);
        count_in(total_ns, ns);
        count_in(counts[latency_count_of(ns)], 1);
    }
};

} // namespace ps
