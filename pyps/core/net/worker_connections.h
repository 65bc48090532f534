// A worker's way to the nodes: to the server that is in its own process inside of that, to all others over one socket,
// which is there as soon as there is one to talk to. Belongs to one thread at a time.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "net/connections.h"
#include "segment/segment.h"

namespace ps {

class WorkerConnections {
public:
    // `inside` is the context of the node's server if that is in this process, else null. `worker` names this one.
    WorkerConnections(const Segment &segment, std::shared_ptr<ZmqContext> inside, uint32_t worker);

    void reach(NodeId node); // throws PS_ESYSTEM if it cannot be connected; to send does the same
    void send(NodeId to, Bytes message);
    // Sent, it is empty. `expects_nothing`: nobody owes this worker an answer.
    void send(NodeId to, ZmqMessage &message, bool expects_nothing);
    bool receive(ZmqMessage *message); // false: nothing is there
    bool wait(double seconds); // until there may be something; after all the time it looks anyway
    std::vector<NodeId> broken(); // connections to these nodes, since it was asked last

private:
    Connections &others_to(NodeId node);
    bool is_inside(NodeId node) const { return inside_ && node == own_node_; }

    const Segment &segment_;
    const NodeId own_node_;
    const std::string name_;
    std::shared_ptr<ZmqContext> inside_;
    ZmqContext context_;
    std::optional<ZmqSocket> own_; // to the server inside
    std::optional<Connections> others_;
};

} // namespace ps
