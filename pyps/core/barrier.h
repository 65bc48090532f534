// The barrier of all workers of a node, threads and processes.
#pragma once

#include <atomic>

#include "segment.h"

namespace ps {

// One worker's way through barriers. The caller makes arrive and withdraw safe against the slot changing hands.
class Barrier {
public:
    void arrive(Segment &segment, WorkerSlot &slot); // goes on with a wait that a signal interrupted
    // PS_OK; PS_EINTR, PS_EBUSY (patience is over): call again. Throws PS_ETIMEDOUT, PS_ECLOSED, PS_ELOST: withdraw.
    int32_t wait(Segment &segment, double timeout, double patience, const std::atomic<bool> &finalized);
    void withdraw(WorkerSlot &slot);

private:
    uint32_t target_ = 0; // the number of the barrier this worker waits for; 0: none
};

// Let those go who wait only for workers that are gone: after every arrival and departure.
void complete_barrier(Segment &segment);
void wake_barrier(Segment &segment); // everybody looks again

} // namespace ps
