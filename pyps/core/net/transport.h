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
//   called for the node; the message is then unchanged. If it returns true, the transport has the message and keeps it
//   while there is no connection, at first or after a break. A message is lost only if the connection breaks after it
//   was sent, or if the other end never comes back.
// - Bounds. A message longer than the receiver's `longest` breaks the connection. How much may wait is bounded by
//   memory alone, unless the transport says otherwise; then the connection breaks at its bound.
// - Breaks. The end that has connected is told when a connection breaks, and when it is there again. The transport
//   connects again by itself, as soon as the other end can be reached. A connection breaks at once when the other end
//   is closed or its process ends, and after `Heartbeats::timeout` when nothing is heard from there. The end that has
//   accepted the connection is not told.
// - Waiting. wait() sleeps until a message may have come, the descriptor has something to read, or the time is over;
//   that of the links also ends when there are events. It may return for no reason, and returns at once as long as
//   there are messages that were not received.
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

// Heartbeats with which a connection for messages breaks within so many seconds after its other end has stopped
// reading. Signs of life go in order with the messages, so nothing else is needed: if another connection has taken the
// name, this one stays open, and only the missing signs of life tell that its messages are not read any more.
inline Heartbeats heartbeats_within(double seconds) { return {seconds / 4, 3 * seconds / 4}; }

struct ConnectionEvent {
    NodeId node;
    bool is_connected; // now
    bool has_broken; // since the last event; if it is connected now, that is another connection
};

enum class Reach { unknown, refused, open };

// One message that came to a node.
struct Received {
    std::string from; // the name of its connection
    Message message;
    const char *fault = nullptr; // null, or why there is no message
};

// What a transport has to know about one end: a node's server, its vigil, or a worker.
struct End {
    NodeId node, num_nodes;
    std::string name; // the name of its connections
    CurveKeys keys;
    int64_t longest; // most bytes of a message that it takes
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

    virtual void reach(NodeId node) = 0; // connects if that was not done yet, as send() does; throws PS_ESYSTEM
    // `expects_nothing`: this worker waits for no answer, so the transport need not look for one.
    virtual void send(NodeId to, Message &&message, bool expects_nothing = false) = 0;
    // False: nothing has come. A message that came after wait() returned may be found after the next wait() only.
    virtual bool receive(Message *message) = 0;
    virtual bool wait(double seconds) = 0; // false if nothing has come
    virtual std::vector<NodeId> broken() = 0; // nodes whose connections broke since the last call
};

// How workers of the server's own process reach it, by a shorter way if the transport has one. This may outlive the
// server; what is sent then is dropped.
class Inside {
public:
    virtual ~Inside() = default;
    virtual std::unique_ptr<WorkerTransport> connect(const WorkerEnd &worker) = 0;
};

// The links of a node's vigil to other nodes, and what happens to the connections of the node's server.
class Links {
public:
    virtual ~Links() = default;

    virtual void connect(NodeId node, const std::string &endpoint) = 0;
    virtual bool send(NodeId to, Message &&message) = 0;
    virtual bool receive(Message *message) = 0;
    virtual void wait(int descriptor, double seconds) = 0;
    virtual std::vector<ConnectionEvent> link_events() = 0; // since the last call; so are the next
    virtual std::vector<ConnectionEvent> message_events() = 0;

    // Look whether anything listens at the node's endpoint. Reach::refused: its host answers that nothing does.
    virtual void probe(NodeId node, double now, double timeout) = 0;
    virtual bool is_probing(NodeId node) const = 0;
    virtual Reach look(NodeId node, double now) = 0; // the result; Reach::open also if there was none in time
};

// A node's own end, which is bound to its endpoint when it is made.
class NodeTransport {
public:
    virtual ~NodeTransport() = default;

    virtual const std::string &endpoint() const = 0; // with the port or name that was chosen
    // The file of the library that other processes must open to reach nodes.
    virtual std::string library() const { return {}; }
    virtual std::weak_ptr<Inside> inside() = 0;
    virtual Message message(size_t bytes) = 0; // as WorkerTransport::message

    virtual void connect(NodeId node, const std::string &endpoint) = 0;
    // Made once, after connect() was called for all nodes; must be gone before this. They are not connected yet.
    virtual std::unique_ptr<Links> links(const std::string &name, Heartbeats heartbeats) = 0;

    virtual bool send(NodeId to, Message &&message) = 0;
    virtual bool reply(const std::string &name, Message &&message) = 0; // to the end whose connection has that name
    virtual bool receive(Received *received) = 0; // false if nothing has come
    struct Woken {
        bool news; // something happened: a message, or the descriptor
        bool rang; // the descriptor has something to read
    };
    virtual Woken wait(int descriptor, double seconds) = 0;
    // Set how long closing this waits for messages that were sent but have not left yet.
    virtual void linger(double seconds) = 0;
};

// What a node's transport has to know about the node.
struct NodeEnd {
    End end;
    uint32_t max_workers;
    std::atomic<uint64_t> *refused; // counts connections without the cluster's keys
    uint32_t threads = 1; // of the server; a transport with threads of its own has at least as many
};

} // namespace ps
