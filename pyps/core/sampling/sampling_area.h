// What a node's workers in all processes know about sampling. It lies at the end of the node's shared memory, is
// committed when sampling is enabled, and does not change after that.
#pragma once

#include <cstdint>

namespace ps {

struct SamplingArea {
    char scheme[16], distribution[16]; // names in the registries
    int64_t min, max;                  // the keys that may be drawn: [min, max)
    int64_t population; // how many of these can be drawn: their weight is not zero
    uint64_t seed;
    uint32_t with_replacement;
    uint32_t pool_size, pool_uses;

    int64_t range() const { return max - min; }
    // What the distribution keeps lies behind this struct.
    template <class Cell>
    Cell *cells() {
        return reinterpret_cast<Cell *>(this + 1);
    }
    template <class Cell>
    const Cell *cells() const {
        return reinterpret_cast<const Cell *>(this + 1);
    }
};
static_assert(sizeof(SamplingArea) % 8 == 0, "the cells behind it are aligned");

constexpr uint64_t most_cell_bytes = 8; // per key, of any distribution
constexpr uint64_t sampling_bytes(uint64_t num_keys) { return sizeof(SamplingArea) + num_keys * most_cell_bytes; }

} // namespace ps
