// One socket that connects to many nodes and names each by its number. What is sent to a node goes over its own
// connection, in order, whatever waits for others: each has a queue without a limit of ZeroMQ's.
//
// ZeroMQ connects again by itself, but what was on its way when a connection broke may be lost, and nothing else tells
// of it: so one monitor tells what happens to all of them.
#pragma once

#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "net/transport.h"
#include "net/zeromq/socket.h"

namespace ps {

class ConnectionEvents {
public:
    ConnectionEvents(ZmqSocket &socket, ZmqContext &context, NodeId num_nodes);
    ConnectionEvents(const ConnectionEvents &) = delete;
    ConnectionEvents &operator=(const ConnectionEvents &) = delete;
    ~ConnectionEvents();

    void expect(NodeId node, const std::string &endpoint); // before the socket connects to it

    std::vector<ConnectionEvent> all(); // since it was asked last; none, unless its socket may have more
    ZmqSocket &socket() { return events_; } // to wait for

private:
    ConnectionEvent note(ZmqEvent what, const std::string &endpoint);
    NodeId node_at(const std::string &endpoint);

    ZmqSocket &socket_;
    ZmqSocket events_;
    std::unordered_map<std::string, NodeId> nodes_; // by endpoint
    std::vector<bool> connected_;                   // by node
};

class Connections {
public:
    // `name`: of this end, at the others' routers.
    Connections(ZmqContext &context, NodeId num_nodes, const std::string &name, Heartbeats heartbeats);

    void connect(NodeId node, const std::string &endpoint);
    bool has(NodeId node) const { return has_[node]; }
    size_t size() const { return has_.size(); } // nodes, this one among them

    // Neither waits. False: it has no connection to the node; nothing is there.
    bool send(NodeId to, Message &&message) { return socket_.send(names_[to], std::move(message)); }
    bool receive(Message *message); // what has more than one part is no message

    // From now on: for what was sent, when this is closed.
    void linger(double seconds);

    ZmqSocket &socket() { return socket_; } // to wait for
    ConnectionEvents &events() { return events_; } // for any one thread, once all are connected

private:
    ZmqSocket socket_;
    ConnectionEvents events_;
    std::vector<std::string> names_; // of nodes, for ZeroMQ
    std::vector<bool> has_;
};

} // namespace ps
