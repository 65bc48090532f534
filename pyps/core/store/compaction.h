// Takes memory from one length of values for another one, on a node that lets keys go and has a memory limit.
//
// What keys leave behind when they go is free slots here and there, of which only values of the same length can make
// use. As soon as a length has as many of them as a slab has slots, the emptiest slab is emptied: its values move to
// free slots of other slabs, and its memory is given back. So for each key that goes at most one value is moved. Each
// slot tells the row whose value it has.
#pragma once

#include <cstdint>

#include "store/latch.h"
#include "store/room.h"
#include "store/slabs.h"

namespace ps {

class Compaction {
public:
    Compaction(Segment &segment, Slabs &slabs, Latches &latches)
        : segment_(segment), slabs_(slabs), latches_(latches) {}

    // Give back the memory of one slab whose slots are not needed for `coming`. False: there is none.
    bool give_back_one(const Load &coming);

private:
    bool can_spare(uint32_t length_class, const Load &coming) const;
    bool empty_one(uint32_t length_class);
    void move(uint32_t length_class, uint32_t slot);

    Segment &segment_;
    Slabs &slabs_;
    Latches &latches_;
    double next_try_ = 0; // monotonic seconds
};

} // namespace ps
