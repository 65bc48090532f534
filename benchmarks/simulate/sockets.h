// The threads that ZeroMQ has for the connections of a node's server, or of a worker: these have some each, which share
// the node's processors. A connection belongs to one of them.
#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "net/transport.h"
#include "threads.h"

namespace ps::simulate {

class Cluster;
class Node;

// A message on its way to a node's server, or to a worker.
struct Packet {
    NodeId from, to;
    std::string name; // of the connection: the sender's to a server, the worker's own else
    bool to_worker;
    Message message;
};

class Sockets {
public:
    Sockets(Cluster &cluster, Node &node, size_t threads);

    void send(const std::shared_ptr<Packet> &packet) { pass(packet, packet->to); } // to the link
    void arrive(const std::shared_ptr<Packet> &packet) { pass(packet, packet->from); } // from there
    double computed() const; // by all of them
    double most_computed() const; // by one

private:
    struct Carrier {
        explicit Carrier(Sockets &sockets);

        std::deque<std::shared_ptr<Packet>> queue;
        Thread thread;
    };

    void pass(const std::shared_ptr<Packet> &packet, NodeId peer);
    void carry(Thread &self, std::deque<std::shared_ptr<Packet>> &queue);

    Cluster &cluster_;
    Node &node_;
    std::vector<std::unique_ptr<Carrier>> carriers_;
};

} // namespace ps::simulate
