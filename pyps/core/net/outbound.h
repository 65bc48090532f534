// Sends the messages of one channel of a node's server. Only the server's own thread may use the transport. While that
// thread runs the channel, messages are sent at once; while the channel's own thread runs it, they are kept here, and
// the doorbell wakes the server's thread, which sends them.
#pragma once

#include <mutex>
#include <string>
#include <vector>

#include "net/transport.h"
#include "segment/doorbell.h"

namespace ps {

class Outbound {
public:
    Outbound(NodeTransport &transport, const Doorbell &doorbell, NodeId self)
        : transport_(transport), doorbell_(doorbell), self_(self) {}

    Message message(size_t bytes) { return transport_.message(bytes); } // to be filled and sent

    // Called by the thread that runs the channel; none of these waits. An answer for a worker that has no connection to
    // this node goes to the worker's node, which passes it on.
    void send(NodeId to, Message &&message);
    void answer(NodeId node, const std::string &worker, Message &&message);
    void pass_on(const std::string &worker, Message &&message); // to a worker of this node; dropped if it has ended

    // The thread that runs the channel calls this before it does anything: is it the server's own thread?
    void begin(bool has_transport);
    bool has_transport() const { return has_transport_; }
    void deliver(); // sends what is kept here; by the server's own thread

private:
    struct Left {
        NodeId node;
        std::string worker; // its connection's name; empty: the message is for the node itself
        Message message;
    };

    void leave(Left message);
    void carry(NodeId node, const std::string &worker, Message &&message);

    NodeTransport &transport_;
    const Doorbell &doorbell_;
    const NodeId self_;
    bool has_transport_ = true;
    std::mutex mutex_; // guards what follows
    std::vector<Left> left_;
};

} // namespace ps
