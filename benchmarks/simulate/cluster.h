// The nodes of a simulated cluster and what is between them.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "costs.h"
#include "net/transport.h"
#include "server/channel.h"
#include "sockets.h"
#include "store/promises.h"
#include "threads.h"

namespace ps::simulate {

// A worker's end of its connections.
class Receiver {
public:
    virtual ~Receiver() = default;
    virtual void arrive(Message &&message) = 0; // to the worker
    virtual const Sockets &sockets() const = 0;
    virtual void arrive(const std::shared_ptr<Packet> &packet) = 0; // from the link
};

struct Traffic {
    uint64_t messages = 0, bytes = 0; // without what links add

    void add(uint64_t size) { messages++, bytes += size; }
};

// What the shipped code took to do something, in real time; filled if asked for.
struct Measured {
    uint64_t count = 0, keys = 0, bytes = 0;
    double seconds = 0;

    void add(uint64_t more_keys, uint64_t more_bytes, double real) {
        count++, keys += more_keys, bytes += more_bytes, seconds += real;
    }
};

class Node;

class Cluster {
public:
    explicit Cluster(const Settings &settings);
    ~Cluster();

    const Settings &settings;
    const Costs costs;
    const Hosts hosts;
    Events events;
    std::optional<Processors> machine; // if all nodes share one
    std::vector<std::unique_ptr<Node>> nodes;
    std::map<std::string, Measured> measured;

    void carry(const std::shared_ptr<Packet> &packet, bool begins); // over the links, from now; begins: a batch

private:
    struct Link {
        double sent = 0, received = 0; // when its directions are free again
    };

    ps_node_options options_of(NodeId node, const std::vector<int64_t> &lengths) const;
    std::vector<Link> links_;
    double shared_ = 0; // when what all links have in common is free again
};

// A node: the shipped store and channel, the thread of its server, and those that ZeroMQ has for its connections.
class Node : public NodeTransport {
public:
    Node(Cluster &cluster, const ps_node_options &options);

    NodeId id() const { return NodeId(segment->header().node); }
    void arrive(const std::shared_ptr<Packet> &packet); // from the link
    void give(const std::shared_ptr<Packet> &packet); // to the server or worker that it is for
    // From the server or a worker, at that time, by the sockets that are its own.
    void leave(const std::shared_ptr<Packet> &packet, double time, Sockets &sockets);
    void look_at_doorbell(); // after a worker has done something
    Share &processors() { return processors_; }

    const std::string &endpoint() const override { return endpoint_; }
    std::weak_ptr<Inside> inside() override { return {}; }
    Message message(size_t bytes) override { return Message(Bytes(bytes)); }
    void connect(NodeId, const std::string &) override {}
    std::unique_ptr<Links> links(const std::string &, Heartbeats) override { return nullptr; }
    bool send(NodeId to, Message &&message) override;
    bool reply(const std::string &name, Message &&message) override;
    bool receive(Received *received) override;
    Woken wait(int descriptor, double seconds) override;
    void linger(double) override {}

    const std::shared_ptr<Segment> segment;
    std::map<std::string, Receiver *> workers; // of this node, by the names of their connections
    Traffic sent, received; // over the links
    uint64_t rounds = 0, taken = 0, most_waiting = 0; // taken: messages; most_waiting: for the server
    uint64_t most_replicas = 0, batches = 0; // batches: of messages, that went to a link together

    double server_computed() const { return server_.computed(); }
    double sockets_computed() const; // with those of workers
    double most_carried() const; // what the busiest of their threads computed

private:
    void serve(Thread &self);
    void take(Received &&received);
    void end_turn(Thread &self);
    void rest(double seconds);

    Cluster &cluster_;
    const std::string endpoint_ = "simulated";
    Slabs slabs_;
    Promises promises_;
    StoreShape shape_;
    Channel channel_;
    Share processors_;
    std::deque<std::shared_ptr<Packet>> inbox_;
    std::unordered_set<std::string> connected_; // names of workers' connections
    uint64_t keys_sent_ = 0, bytes_sent_ = 0; // in this turn, to nodes
    uint64_t replied_ = 0; // bytes, to workers while a message is taken
    bool rang_ = false;
    Thread server_;
    Sockets sockets_;
};

} // namespace ps::simulate
