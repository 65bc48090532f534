// Slots of one size for values, in slabs of about 1 MiB. The free slots of a slab form a list, which is kept in the
// slots themselves. A slab's memory is committed with its first value and given back with its last; but while there are
// other values, one empty slab is kept, for keys that come and go.
#pragma once

#include <cstdint>
#include <vector>

#include "segment/segment.h"

namespace ps {

class Pool {
public:
    static constexpr uint64_t target_bytes = 1ull << 20; // of a slab

    // At most `slots` slots of `slot_bytes`, from `base` on. `free_bytes` counts the free slots of committed slabs.
    Pool(Segment &segment, std::atomic<uint64_t> &free_bytes, uint64_t base, uint64_t slot_bytes, uint64_t slots);

    void expect(uint64_t values); // so many values will be allocated now; call it before any other
    // Returns a slot that is filled with the value, or with zeros if that is null.
    uint32_t allocate(const char *value, uint64_t bytes);
    void release(uint32_t index);

private:
    static constexpr uint32_t none = UINT32_MAX;

    struct Slab {
        uint32_t live = 0;
        uint32_t touched = 0; // slots below this were used since the memory was committed
        uint32_t first_free = none; // first of the list of free slots below `touched`
        bool in_open = false;
        bool committed = false;
        bool recycled = false; // some of its memory was used before, so it may not be zero
    };

    Slab &with_room(uint32_t *slab_number);
    void commit(uint64_t offset, uint64_t bytes);
    void make_large(uint32_t slab_number);
    void note_committed(uint32_t slab_number);
    void empty(uint32_t slab_number);
    void give_back(uint32_t slab_number);
    uint32_t capacity(uint32_t slab_number) const;
    uint64_t begin_of(uint32_t slab_number) const;
    uint64_t bytes_of(uint32_t slab_number) const;
    char *at(uint32_t index) const;

    Segment &segment_;
    std::atomic<uint64_t> *free_bytes_;
    uint64_t base_, slot_bytes_, slots_;
    uint32_t slots_per_slab_;
    std::vector<Slab> slabs_;
    uint64_t live_ = 0; // values in all slabs
    uint32_t kept_ = none; // the empty slab that keeps its memory
    std::vector<uint32_t> open_; // slabs with room; the last one is used next
};

} // namespace ps
