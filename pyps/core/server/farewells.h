// Nodes that this one's server waits for no more, because they were lost or have left, and how it leaves itself.
// Belongs to the server's thread.
#pragma once

#include <vector>

#include "net/transport.h"
#include "server/gates.h"

namespace ps {

class Farewells {
public:
    Farewells(Segment &segment, NodeTransport &transport, Gates &gates)
        : segment_(segment), transport_(transport), gates_(gates), lost_(segment.header().num_nodes),
          told_(segment.header().num_nodes), awaited_(segment.header().num_nodes) {}

    void look_for_losses(); // that the vigil has found
    bool refuse(const FrameHeader &header); // what counts no more
    void take(NodeId from);                 // another node says that it leaves, and waits until it is heard

    // This node leaves, and waits until it is heard.
    void say();
    void heard_by(NodeId node) { awaited_[node] = false; }
    bool is_heard() const;

private:
    void lose(NodeId node);

    Segment &segment_;
    NodeTransport &transport_;
    Gates &gates_;
    std::vector<bool> lost_;    // by node
    std::vector<double> told_;  // when a node that was lost was last told so
    std::vector<bool> awaited_; // nodes that have not answered the farewell
};

} // namespace ps
