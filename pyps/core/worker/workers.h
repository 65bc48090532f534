// The worker slots of a node: who has which, and freeing those of dead processes.
#pragma once

#include <cstdint>

#include "segment/segment.h"
#include "store/latch.h"

namespace ps {

// WorkerSlot::identity: bits 0-31 start time, 32-53 pid (0: the slot is free), 54-58 epoch, which grows with every
// claim.
struct Identity {
    Process process;
    uint32_t epoch = 0;

    uint64_t word() const { return process.start | uint64_t(process.pid) << 32 | uint64_t(epoch) << 54; }
    bool is_taken() const { return process.pid != 0; }
    bool is_alive() const { return is_taken() && process.is_alive(); }
};

Identity identity_of(const WorkerSlot &slot);

// Take a slot, a dead worker's if no other is free; the counters and the clock start from 0. Throws PS_EWORKERS,
// PS_ENOMEM.
Holder join(Segment &segment, uint32_t *ordinal = nullptr); // `ordinal`: of all that ever joined, from 1
Holder join_as_server(Segment &segment, uint32_t channel); // a slot behind the workers'; throws PS_ENOMEM
void leave(Segment &segment, Holder me); // the memory for undoing what it writes is given back

// Free the slots of dead workers and what they held, but for those that have to wait for a living one. Returns how
// many.
uint32_t reclaim_dead(Segment &segment);
uint32_t count_workers(const Segment &segment);
uint32_t count_free(const Segment &segment); // slots

} // namespace ps
