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

#include "net/zeromq.h"
#include "protocol/messages.h"

namespace ps {

class ConnectionEvents {
public:
    ConnectionEvents(ZmqSocket &socket, ZmqContext &context, NodeId num_nodes);
    ConnectionEvents(const ConnectionEvents &) = delete;
    ConnectionEvents &operator=(const ConnectionEvents &) = delete;
    ~ConnectionEvents();

    void expect(NodeId node, const std::string &endpoint); // before the socket connects to it

    struct Event {
        NodeId node;
        bool is_connected; // now
        bool has_broken;   // since the last event: a connection that was there is not the same any more
    };
    std::vector<Event> all(); // since it was asked last; none, unless its socket may have more
    ZmqSocket &socket() { return events_; } // to wait for

private:
    Event note(ZmqEvent what, const std::string &endpoint);
    NodeId node_at(const std::string &endpoint);

    ZmqSocket &socket_;
    ZmqSocket events_;
    std::unordered_map<std::string, NodeId> nodes_; // by endpoint
    std::vector<bool> connected_;                   // by node
};

class Connections {
public:
    // A question is sent every `interval`, and the connection breaks when it is not answered for `timeout`; seconds.
    struct Heartbeats {
        double interval, timeout;
    };

    // `name`: of this end, at the others' routers.
    Connections(ZmqContext &context, NodeId num_nodes, const std::string &name, Heartbeats heartbeats);

    void connect(NodeId node, const std::string &endpoint);
    bool has(NodeId node) const { return has_[node]; }
    size_t size() const { return has_.size(); } // nodes, this one among them

    // Nothing of these waits. False: it has no connection to the node; nothing is there.
    bool send(NodeId to, Bytes message) { return socket_.send(names_[to], std::move(message)); }
    bool send(NodeId to, ZmqMessage &message) { return socket_.send(names_[to], message); } // sent: it is empty
    bool receive(ZmqMessage *message); // one that has more than one part is none

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

// How soon a connection for messages breaks whose other end reads no more: it vanished without a word, say. What is
// asked is read and answered in order with the messages: ZeroMQ, when another connection has taken this one's name,
// keeps it open and reads no more of it, which neither TCP nor a link of its own would tell.
Connections::Heartbeats heartbeats_within(double seconds);

} // namespace ps
