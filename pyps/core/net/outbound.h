// What a channel of a node's server sends. The transport belongs to the server's own thread. While that thread runs the
// channel, messages are sent at once. While the channel's own thread runs it, messages are left here, and the doorbell
// wakes the server's thread to send them.
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

    // By the thread that runs the channel. Messages for a worker that has not connected to this node go to the worker's
    // node, which passes them on. None of these waits.
    void send(NodeId to, Message &&message);
    void answer(NodeId node, const std::string &worker, Message &&message);
    void pass_on(const std::string &worker, Message &&message); // to a worker that is known here, or gone

    // By the thread that runs the channel, before it does anything: is this the server's own thread?
    void begin(bool has_transport);
    bool has_transport() const { return has_transport_; }
    void deliver(); // by the server's own thread: what is left here

private:
    struct Left {
        NodeId node;
        std::string worker; // of the node; empty: the message is for the node itself
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
