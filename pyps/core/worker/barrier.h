// Barriers, as those who come to them see it: the workers of all nodes, threads and processes; the nodes themselves.
// On the only node the workers see by themselves that all have come; among several nodes it is for the server.
#pragma once

#include <functional>

#include "segment/segment.h"

namespace ps {

// One participant's way through the rounds of a barrier. The caller makes arrive and withdraw safe against the arrival
// changing hands.
class Barrier {
public:
    // Goes on with a wait that was interrupted.
    void arrive(Segment &segment, const Rounds &rounds, ArrivalWord &arrival);
    // PS_OK; PS_EINTR, or with patience PS_EBUSY, when it is over too: call again; PS_ETIMEDOUT, or it throws what
    // `check` throws when there is nothing to wait for any more: withdraw.
    int32_t wait(Segment &segment, Rounds &rounds, double timeout, double patience, const std::function<void()> &check);
    bool withdraw(Segment &segment, Rounds &rounds, ArrivalWord &arrival); // false: too late, all have come

private:
    bool is_over(const Rounds &rounds) const;
    uint32_t round_ = 0; // the one that this participant waits for; 0: none
    bool waits_ = false;
};

// Let those go who wait only for workers that are gone: after every arrival and departure.
void complete_barrier(Segment &segment);
void wake_barriers(Segment &segment); // everybody looks again

} // namespace ps
