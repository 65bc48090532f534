// What a channel of a node's server sends. The server's own thread has the sockets: while it runs the channel, messages
// go at once; those of a thread of the channel's own are left here, and the server's thread is rung for.
#pragma once

#include <mutex>
#include <string>
#include <variant>
#include <vector>

#include "net/connections.h"
#include "net/routers.h"
#include "segment/doorbell.h"

namespace ps {

class Outbound {
public:
    Outbound(Routers &routers, Connections &peers, const Doorbell &doorbell, NodeId self)
        : routers_(routers), peers_(peers), doorbell_(doorbell), self_(self) {}

    // By whoever runs the channel: a message for a node, and one for a worker, which is reached through its own node
    // unless it has spoken to this one. Nothing of these waits.
    void send(NodeId to, Bytes message);
    void answer(NodeId node, const std::string &worker, Bytes message);
    void answer(NodeId node, const std::string &worker, ZmqMessage &&message);
    void pass_on(const std::string &worker, Bytes message); // to a worker that is known here, or gone

    // By whoever runs the channel, before it does anything: is this the server's own thread?
    void begin(bool has_sockets);
    bool has_sockets() const { return has_sockets_; }
    void deliver(); // by the server's own thread: what is left here

private:
    struct Left {
        NodeId node;
        std::string worker; // of the node; empty: the message is for the node itself
        std::variant<Bytes, ZmqMessage> message;
    };

    void leave(Left message);
    void carry(NodeId node, const std::string &worker, Bytes &&message);
    void carry(NodeId node, const std::string &worker, ZmqMessage &message);

    Routers &routers_;
    Connections &peers_;
    const Doorbell &doorbell_;
    const NodeId self_;
    bool has_sockets_ = true;
    std::mutex mutex_; // guards what follows
    std::vector<Left> left_;
};

} // namespace ps
