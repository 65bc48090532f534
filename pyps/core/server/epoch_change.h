// What a channel does when nodes were lost and the others go on: it brings its protocol to a new epoch, together with
// the same channel of the other members (see crossing.h).
#pragma once

#include <functional>
#include <vector>

#include "membership/crossing.h"
#include "net/mailbox.h"
#include "net/vigil.h"
#include "protocol/protocol.h"
#include "server/serving.h"

namespace ps {

class EpochChange {
public:
    EpochChange(Segment &segment, Outbound &outbound, Mailbox &mailbox, Protocol &protocol, Serving &serving)
        : segment_(segment), outbound_(outbound), mailbox_(mailbox), protocol_(protocol), serving_(serving),
          crossing_(NodeId(segment.header().places)) {}

    // `take_held_back`: called when messages that were held back should be judged again.
    void when_more_fits(std::function<void()> take_held_back) { take_held_back_ = std::move(take_held_back); }

    Crossing::Verdict judge(const FrameHeader &header) const;
    bool is_settled() const { return crossing_.is_settled(); }
    void begin(const Vigil::Epoch &epoch);
    void receive(NodeId from, const HoldsBatch &batch);

private:
    void tell_members(HoldsBatch::Phase phase);
    void take_own(HoldsBatch::Phase phase);

    Segment &segment_;
    Outbound &outbound_;
    Mailbox &mailbox_;
    Protocol &protocol_;
    Serving &serving_;
    Crossing crossing_;
    std::function<void()> take_held_back_;
};

} // namespace ps
