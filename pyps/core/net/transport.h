// How nodes and workers reach each other: what a server, its vigil and workers rely on, whatever carries the messages.
// The scheme of an endpoint ("tcp://...") says which transport that is: see schemes.h.
//
// A node has an endpoint, at which others connect to it. It connects to every other node, once for messages and once
// more for the links of its vigil; a worker connects to the nodes that it talks to. Messages go both ways over a
// connection, but a node's server receives only what comes over connections that others have made.
//
// Every transport promises:
//
// - Order. What is sent over a connection arrives in that order, every message whole and at most once. Messages of
//   different connections may overtake each other.
// - Names. The end that connects gives the connection a name, by which the other end sends to it. If a second
//   connection comes with the same name, the name belongs to the second one from then on, and nothing more is received
//   over the first one.
// - Sending never waits for the other end. It returns false if no connection has the name, or if connect() was not
//   called for the node; the message is then unchanged. If it returns true, the message has been taken. While the
//   connection is not there, yet or again, the message waits. It is lost only if the connection breaks after the
//   message was sent, or if the other end never comes back.
// - Bounds. A message longer than the receiver's `longest` breaks the connection. How much may wait is bounded by
//   memory alone, unless the transport says otherwise; then the connection breaks at its bound.
// - Breaks. The end that has connected is told when a connection breaks, and when it is there again. It is made again
//   without being asked for, as soon as the other end can be reached. It breaks at once when the other end is closed or
//   its process ends, and after `Heartbeats::timeout` when nothing is heard from there. The end that has accepted the
//   connection is not told.
// - Waiting. wait() returns when a message may have come or the descriptor has something to read, that of the links
//   also when there are events; at the latest when the time is over. Until then it sleeps. It may return for no
//   reason, and returns at once as long as there are messages that were not received.
// - Threads. Each object belongs to one thread at a time; a node's transport and its links may belong to different
//   ones. message() may be called from any thread.
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

// How often each end asks the other one for a sign of life, and after how much silence the connection breaks; seconds.
struct Heartbeats {
    double interval, timeout;
};

// So that a connection for messages breaks within so many seconds after its other end has stopped reading. Signs of
// life come in order with the messages: a connection whose name belongs to another one now stays open, and nothing but
// their absence tells that its messages are not read any more.
inline Heartbeats heartbeats_within(double seconds) { return {seconds / 4, 3 * seconds / 4}; }

struct ConnectionEvent {
    NodeId node;
    bool is_connected; // now
    bool has_broken; // since the last event: even if it is connected now, it is not the same connection
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
    // False: nothing is there. What came after wait() came back may be found by the next wait() only.
    virtual bool receive(Message *message) = 0;
    virtual bool wait(double seconds) = 0; // false: nothing has come
    virtual std::vector<NodeId> broken() = 0; // connections to these nodes, since it was asked last
};

// How workers reach the server of their node inside of its own process, by a shorter way if the transport has one. It
// may outlive the server; what is sent then reaches nothing.
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

    // Ask whether anything listens at the node's endpoint. `refused`: its host answers that nothing does.
    virtual void probe(NodeId node, double now, double timeout) = 0;
    virtual bool is_probing(NodeId node) const = 0;
    virtual Reach look(NodeId node, double now) = 0; // the answer; `open` also if there was none in time
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
