// Barriers as the participants see them: workers of all nodes, or the nodes themselves. If there is no server, the
// workers find out by themselves that all have come; else the server does.
#pragma once

#include <functional>

#include "segment/segment.h"

namespace ps {

// One participant's way through the rounds of a barrier. The caller must make sure that the arrival word does not get
// another owner during arrive and withdraw.
class Barrier {
public:
    // After a wait that was interrupted it changes nothing.
    void arrive(Segment &segment, const Rounds &rounds, ArrivalWord &arrival);
    // Returns PS_OK when the round is over; PS_EINTR, or with patience PS_EBUSY: call it again to wait on;
    // PS_ETIMEDOUT: call withdraw. If there is nothing left to wait for it throws what `check` throws: call withdraw,
    // too.
    int32_t wait(Segment &segment, Rounds &rounds, double timeout, double patience, const std::function<void()> &check);
    bool withdraw(Segment &segment, Rounds &rounds, ArrivalWord &arrival); // false: too late, the round is over

private:
    bool is_over(const Rounds &rounds) const;
    uint32_t round_ = 0; // the round that this participant waits for; 0: none
    bool waits_ = false;
};

// End the round if only workers are missing that have gone. Call it after each arrival and departure.
void complete_barrier(Segment &segment);

} // namespace ps
