// Lets the nodes of a cluster find out whether short intents pay (see IntentTrials): shows trials the clocks of this
// node's workers, carries what nodes tell each other, and writes into shared memory what workers are to do.
#pragma once

#include <vector>

#include "net/mailbox.h"
#include "protocol/intent_trials.h"
#include "segment/segment.h"
#include "wire/trials.h"

namespace ps {

class IntentChoice : private IntentTrials::Port {
public:
    IntentChoice(Segment &segment, Outbound &outbound, const Mailbox &mailbox, std::vector<NodeId> members);

    void look_at_clocks(double now); // call it in each round
    void receive(double now, NodeId from, const TrialMessage &message);
    void begin_epoch(std::vector<NodeId> members);
    bool is_trying() const { return !trials_.is_over(); }

private:
    void tell(NodeId to, const TrialNote &note) override;
    void note();

    Header &header_;
    const Segment &segment_;
    Outbound &outbound_;
    const Mailbox &mailbox_;
    IntentTrials trials_;
};

} // namespace ps
