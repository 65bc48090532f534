// Memory for values: per length class slabs of about 1 MiB, each with a list of free slots that is kept in the slots
// themselves. A slab's memory is committed with its first value and given back with its last.
//
// Used by the server process alone; `mutex_` guards it. Workers only ever read and write values that are there.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "segment.h"

namespace ps {

class Slabs {
public:
    explicit Slabs(Segment &segment);

    // Give a key that is not held here a value of zeros, and take the value of a key away. Both under the key's latch,
    // or before anybody else knows the store.
    Place hold(Place place);
    Place drop(Place place);

private:
    static constexpr uint32_t none = UINT32_MAX;
    static constexpr uint64_t target_bytes = 1ull << 20;

    struct Slab {
        uint32_t live = 0;
        uint32_t touched = 0;       // slots below were used since the memory was committed
        uint32_t first_free = none; // of those touched
        bool in_open = false;
        bool recycled = false; // some of its memory was used before
    };
    struct Class {
        uint32_t slots_per_slab;
        std::vector<Slab> slabs;
        std::vector<uint32_t> open; // slabs with room; the last one is used next
    };

    uint32_t allocate(uint32_t class_number);
    void release(uint32_t class_number, uint32_t index);
    Slab &with_room(uint32_t class_number, uint32_t *slab_number);
    uint32_t capacity(uint32_t class_number, uint32_t slab_number) const;
    uint64_t slab_bytes(uint32_t class_number, uint32_t slab_number) const;
    void count(int64_t keys, int64_t slab_bytes, int64_t value_bytes);

    Segment &segment_;
    std::mutex mutex_;
    std::vector<Class> classes_;
};

} // namespace ps
