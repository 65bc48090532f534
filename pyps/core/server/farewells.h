// The nodes that this node's server does not wait for any more, because they were lost or have left, and how this node
// leaves. Belongs to the server's thread.
#pragma once

#include <vector>

#include "net/transport.h"
#include "server/gates.h"
#include "server/tuning.h"
#include "tables/tables.h"

namespace ps {

class Farewells {
public:
    Farewells(Segment &segment, NodeTransport &transport, Gates &gates, Tuning &tuning, Tables *tables)
        : segment_(segment), transport_(transport), gates_(gates), tuning_(tuning), tables_(tables),
          lost_(segment.header().places), told_(segment.header().places), awaited_(segment.header().places) {}

    void look_for_losses(); // takes in the losses that the vigil has found, and nodes that have joined
    bool refuse(const FrameHeader &header); // whether a message is to be ignored
    void take(NodeId from); // another node tells that it leaves, and waits for the answer

    // This node tells the others that it leaves, and waits for their answers.
    void say();
    void heard_by(NodeId node) { awaited_[node] = false; }
    bool is_heard() const;

private:
    void lose(NodeId node);
    void welcome(NodeId node);

    Segment &segment_;
    NodeTransport &transport_;
    Gates &gates_;
    Tuning &tuning_;
    Tables *const tables_;
    std::vector<bool> lost_;    // by node: it was lost, or has not joined yet
    std::vector<double> told_;  // when a node that was lost was last told so
    std::vector<bool> awaited_; // nodes that have not answered the farewell
};

} // namespace ps
