// How nodes and workers reach each other: what a server, its vigil and workers rely on, whatever carries the messages.
// The scheme of an endpoint ("tcp://...") says which transport that is: see schemes.h.
//
// A node has an endpoint, at which others connect to it. It connects to every other node, once for messages and once
// more for the links of its vigil; a worker connects to the nodes that it talks to. Over a connection messages go both
// ways, but a node's server hears others only over connections that they have made. Every transport promises:
//
// - Order. What is sent over a connection arrives in that order, every message whole and at most once. What goes over
//   different connections may overtake each other.
// - Names. The end that connects names the connection, and the other end sends to it by this name. When another
//   connection takes a name, the name is its own from then on, and nothing more is heard over the former one.
// - Sending never waits for the other end. False: no connection has this name, or connect() was not called for this
//   node; then the message is whole. True: the message is taken. It waits while the connection is not there (not yet,
//   or not again), and it is lost only if the connection breaks after that, or the other end is gone for good.
// - Bounds. A message longer than the receiver's `longest` breaks the connection. What waits is bounded by memory
// alone,
//   unless the transport says otherwise; beyond its bound the connection breaks too.
// - Breaks. The end that connected is told when a connection breaks, and when it is there again; it is made again by
//   itself as soon as the other end can be reached. It breaks at once when the other end is closed or its process ends,
//   and after `Heartbeats::timeout` when nothing is heard from there. The end that was connected to is not told.
// - Waiting. wait() comes back when something may have come, that of links also when there are events, and when the
//   descriptor has something; at the latest when the time is over. Until then it sleeps. It may come back for nothing,
//   and comes back at once until the caller has received until nothing was there.
// - Threads. An object belongs to one thread at a time, a node's transport and its links to different ones. message()
//   may be called from any.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "net/curve.h"
#include "net/message.h"
#include "protocol/messages.h"

namespace ps {

// A question is sent every `interval`, and the connection breaks when nothing was heard for `timeout`; seconds.
struct Heartbeats {
    double interval, timeout;
};

// How soon a connection for messages breaks whose other end reads no more: it vanished without a word, say. What is
// asked is answered in order with the messages: a connection that has lost its name to another one is open as before,
// and only that no answer comes tells of it.
inline Heartbeats heartbeats_within(double seconds) { return {seconds / 4, 3 * seconds / 4}; }

struct ConnectionEvent {
    NodeId node;
    bool is_connected; // now
    bool has_broken; // since the last event: a connection that was there is not the same any more
};

enum class Reach { unknown, refused, open };

// One message that came to a node.
struct Received {
    std::string from; // the name of its connection
    Message message;
    const char *fault = nullptr; // why there is no message
};

// Of one end: a node's server, its vigil, or a worker.
struct End {
    NodeId node, num_nodes;
    std::string name; // of its connections
    CurveKeys keys;
    int64_t longest; // bytes of a message
    Heartbeats heartbeats;
};

// What a worker needs to reach nodes.
struct WorkerEnd {
    End end;
    std::function<std::string(NodeId)> endpoint_of;
    std::string library; // NodeTransport::library() of its node
};

class WorkerTransport {
public:
    virtual ~WorkerTransport() = default;

    virtual Message message(size_t bytes) = 0; // to be filled and sent; throws PS_ENOMEM

    virtual void reach(NodeId node) = 0; // throws PS_ESYSTEM if it cannot be connected; to send does the same
    // `expects_nothing`: no node owes this worker an answer, which may save looking for one.
    virtual void send(NodeId to, Message &&message, bool expects_nothing = false) = 0;
    virtual bool receive(Message *message) = 0; // false: nothing is there
    virtual bool wait(double seconds) = 0; // false: nothing has come
    virtual std::vector<NodeId> broken() = 0; // connections to these nodes, since it was asked last
};

// A node's server as workers of its own process reach it, by a shorter way where the transport has one. It may outlive
// the server: then nobody is there.
class Inside {
public:
    virtual ~Inside() = default;
    virtual std::unique_ptr<WorkerTransport> connect(const WorkerEnd &worker) = 0;
};

// The links of a node's vigil to other nodes, and what happens to the connections that the node's messages take.
class Links {
public:
    virtual ~Links() = default;

    virtual void connect(NodeId node, const std::string &endpoint) = 0;
    virtual bool send(NodeId to, Message &&message) = 0;
    virtual bool receive(Message *message) = 0;
    virtual void wait(int descriptor, double seconds) = 0;
    virtual std::vector<ConnectionEvent> link_events() = 0; // since they were asked for last
    virtual std::vector<ConnectionEvent> message_events() = 0;

    // Does anything listen at the node's endpoint? Refused is known of an end that is closed, whose host answers.
    virtual void probe(NodeId node, double now, double timeout) = 0;
    virtual bool is_probing(NodeId node) const = 0;
    virtual Reach look(NodeId node, double now) = 0; // of a probe; open also where it cannot be known
};

// A node's own: bound at its endpoint when it is made.
class NodeTransport {
public:
    virtual ~NodeTransport() = default;

    virtual const std::string &endpoint() const = 0; // that was taken
    virtual std::string library() const { return {}; } // the file that other processes must open to reach nodes
    virtual std::weak_ptr<Inside> inside() = 0;
    virtual Message message(size_t bytes) = 0; // as a worker's

    virtual void connect(NodeId node, const std::string &endpoint) = 0;
    // Connected to nothing yet. Made once, after all nodes were connected; gone before this.
    virtual std::unique_ptr<Links> links(const std::string &name, Heartbeats heartbeats) = 0;

    virtual bool send(NodeId to, Message &&message) = 0;
    virtual bool reply(const std::string &name, Message &&message) = 0; // to the end whose connection has that name
    virtual bool receive(Received *received) = 0; // false: nothing is there
    struct Woken {
        bool news; // of any kind
        bool rang; // the descriptor
    };
    virtual Woken wait(int descriptor, double seconds) = 0;
    virtual void linger(double seconds) = 0; // from now on: for what was sent, when this is closed
};

// What a node's transport has to know of it.
struct NodeEnd {
    End end;
    uint32_t max_workers;
    std::atomic<uint64_t> *refused; // counts connections without the cluster's keys
};

} // namespace ps
