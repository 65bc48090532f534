// Slots of one size for values, in slabs of about 1 MiB, or less where memory goes from one length of values to another
// (Header::slab_bytes_each). The free slots of a slab form a list, which is kept in the slots themselves. A slab's
// memory is committed with its first value and given back with its last; but while there are other values, one empty
// slab is kept, for keys that come and go.
//
// A slab can be closed: no value comes into it any more, and the caller moves those that are there to other slabs.
#pragma once

#include <cstdint>
#include <vector>

#include "segment/segment.h"

namespace ps {

class Pool {
public:
    struct Slots { // from the first one on
        uint32_t first, count;
    };

    // At most `slots` slots of `slot_bytes`, from `base` on. `free_bytes` counts the free slots of committed slabs.
    // `row_at`: see LengthClass.
    Pool(Segment &segment, std::atomic<uint64_t> &free_bytes, uint64_t base, uint64_t slot_bytes, uint64_t slots,
         uint32_t row_at = 0);

    void expect(uint64_t values); // so many values will be allocated now; call it before any other
    // Returns a slot that is filled with the value, or with zeros if that is null.
    uint32_t allocate(const char *value, uint64_t bytes);
    void release(uint32_t index);

    bool give_back_kept(); // the memory of the empty slab that is kept, if there is one
    // Closes the emptiest of some slabs, if all others together have a free slot for each of its values. Returns the
    // slots that were used; none if there is no such slab, or one is closed already.
    Slots close();
    bool has_room_for_closed() const; // a free slot outside of the closed slab
    bool open(); // the closed slab again; true: it was empty, and its memory was given back

private:
    static constexpr uint32_t none = UINT32_MAX;

    struct Slab {
        uint32_t live = 0;
        uint32_t touched = 0; // slots below this were used since the memory was committed
        uint32_t first_free = none; // first of the list of free slots below `touched`
        bool in_open = false; // is in open_
        bool committed = false;
        bool recycled = false; // some of its memory was used before, so it may not be zero
    };

    Slab &with_room(uint32_t *slab_number);
    void add_slab();
    void skip_closed_and_vacant();
    void commit(uint64_t offset, uint64_t bytes);
    void make_large(uint32_t slab_number);
    void note_committed(uint32_t slab_number);
    void empty(uint32_t slab_number);
    void give_back(uint32_t slab_number);
    void discard(uint32_t slab_number);
    uint32_t capacity(uint32_t slab_number) const;
    uint64_t begin_of(uint32_t slab_number) const;
    uint64_t bytes_of(uint32_t slab_number) const;
    char *at(uint32_t index) const;

    Segment &segment_;
    std::atomic<uint64_t> *free_bytes_;
    uint64_t base_, slot_bytes_, slots_;
    uint32_t row_at_;
    uint32_t slots_per_slab_;
    std::vector<Slab> slabs_;
    uint64_t live_ = 0; // values in all slabs
    uint32_t kept_ = none; // the empty slab that keeps its memory
    uint32_t closed_ = none;
    uint32_t looked_at_ = 0; // the slab after those among which one was closed last
    // Slabs with room; the last one is used next. Some have lost their memory, or are closed: these are passed over.
    std::vector<uint32_t> open_;
    std::vector<uint32_t> vacant_; // slabs without memory that are not among the open ones
};

} // namespace ps
