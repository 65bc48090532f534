// One socket that connects to many nodes, each of which it names by its number. Every node has a connection and an
// unlimited queue of its own: messages that wait for one node do not hold up those for another.
//
// ZeroMQ connects again by itself, but messages that were on their way when a connection broke may be lost. The socket
// does not tell when that happened; a monitor of the socket does, for all its connections.
#pragma once

#include <mutex>
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

    void expect(NodeId node, const std::string &endpoint); // call it before the socket connects to the node

    std::vector<ConnectionEvent> all(); // since the last call
    ZmqSocket &socket() { return events_; } // to wait for

private:
    ConnectionEvent note(ZmqEvent what, const std::string &endpoint);
    NodeId node_at(const std::string &endpoint);

    ZmqSocket &socket_;
    ZmqSocket events_;
    std::mutex mutex_; // guards the next: nodes that join are expected while another thread looks at events
    std::unordered_map<std::string, NodeId> nodes_; // by endpoint
    std::vector<bool> connected_;                   // by node
};

class Connections {
public:
    // `name`: what this end is called at the routers that it connects to.
    Connections(ZmqContext &context, NodeId num_nodes, const std::string &name, Heartbeats heartbeats);

    void connect(NodeId node, const std::string &endpoint);
    bool has(NodeId node) const { return has_[node]; }
    size_t size() const { return has_.size(); } // number of nodes, this one among them

    // Only receive_within waits. They return false if there is no connection to the node, or nothing has come.
    bool send(NodeId to, Message &&message) { return socket_.send(names_[to], std::move(message)); }
    bool receive(Message *message); // messages of several parts are skipped
    bool receive_within(double seconds, Message *message);

    // Set how long closing this waits for messages that were sent but have not left yet.
    void linger(double seconds);

    ZmqSocket &socket() { return socket_; } // to wait for
    ConnectionEvents &events() { return events_; } // for one thread

private:
    bool receive_rest(const ZmqMessage &name, Message *message);

    ZmqSocket socket_;
    ConnectionEvents events_;
    std::vector<std::string> names_; // of the nodes, as ZeroMQ gets them
    std::vector<bool> has_;
};

} // namespace ps
