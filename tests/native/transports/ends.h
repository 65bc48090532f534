// Nodes and workers as the tests of transports have them: with names of their own, and nothing behind them.
#pragma once

#include <algorithm>
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "../check.h"
#include "errors.h"
#include "net/schemes.h"
#include "segment/process.h"

namespace ps {

constexpr size_t longest = 200000; // bytes of a message
constexpr double limit = 30;       // seconds for anything

template <class Done, class Meanwhile>
void until(Done &&done, Meanwhile &&meanwhile) {
    double end = monotonic_seconds() + limit;
    while (!done()) {
        CHECK(monotonic_seconds() < end);
        meanwhile();
    }
}

inline Message text(const std::string &words) { return Bytes(words.begin(), words.end()); }
inline std::string shown(const Message &message) { return {message.data(), message.size()}; }

inline Message take(WorkerTransport &worker) {
    Message message;
    until([&] { return worker.receive(&message); }, [&] { worker.wait(0.1); });
    return message;
}

// The first one has one thread that carries messages, if its transport has such threads, the second one two.
class Node {
public:
    Node(const std::string &endpoint, NodeId number, Heartbeats heartbeats = {0.5, 2})
        : end_{number, 3, "N" + std::to_string(number), {}, int64_t(longest), heartbeats},
          transport_(make_node_transport({end_, 16, &refused_, number + 1u}, endpoint)) {}

    NodeTransport *operator->() { return transport_.get(); }
    NodeId number() const { return end_.node; }

    Received take() {
        Received received;
        until([&] { return transport_->receive(&received); }, [&] { transport_->wait(-1, 0.1); });
        return received;
    }

    // In this node's process. It knows where these nodes are, or else every node that was ever connected here.
    std::unique_ptr<WorkerTransport> worker(const std::string &name, const std::vector<Node *> &others = {}) {
        std::vector<std::string> endpoints = endpoints_;
        endpoints.resize(end_.num_nodes);
        endpoints[number()] = transport_->endpoint();
        for (Node *other : others) endpoints[other->number()] = (*other)->endpoint();
        End end = end_;
        end.name = name;
        std::shared_ptr<Inside> inside = transport_->inside().lock();
        CHECK(inside);
        return inside->connect({end, [endpoints](NodeId node) { return endpoints[node]; }, transport_->library()});
    }

    std::unique_ptr<Links> links() { return transport_->links("V" + std::to_string(number()), end_.heartbeats); }

    void connect(Node &other) {
        endpoints_.resize(end_.num_nodes);
        endpoints_[other.number()] = other->endpoint();
        transport_->connect(other.number(), other->endpoint());
    }

private:
    std::atomic<uint64_t> refused_{0};
    const End end_;
    std::unique_ptr<NodeTransport> transport_;
    std::vector<std::string> endpoints_;
};

inline void connect_all(const std::vector<Node *> &nodes) {
    for (Node *one : nodes)
        for (Node *other : nodes)
            if (one != other) one->connect(*other);
}

// Where nothing is bound, but was: of such an endpoint.
inline std::string free_endpoint(const std::string &endpoint) {
    Node node(endpoint, 1);
    return node->endpoint();
}

// What links tell.
struct Told {
    explicit Told(Links &of) : links_of(of) {}

    struct Count {
        int connected = 0, broken = 0;
    } links, messages;
    Links &links_of;

    static void count(const std::vector<ConnectionEvent> &events, Count *to) {
        for (const ConnectionEvent &event : events) {
            to->connected += event.is_connected;
            to->broken += event.has_broken;
        }
    }
    void look() {
        count(links_of.link_events(), &links);
        count(links_of.message_events(), &messages);
    }
    void until(const std::function<bool()> &done) {
        ps::until(
            [&] {
                look();
                return done();
            },
            [&] { links_of.wait(-1, 1); });
    }
};

inline Reach probe(Links &links, NodeId node, double timeout = 5) {
    links.probe(node, monotonic_seconds(), timeout);
    CHECK(links.is_probing(node));
    Reach reach = Reach::unknown;
    until([&] { return (reach = links.look(node, monotonic_seconds())) != Reach::unknown; },
          [&] { links.wait(-1, 0.01); });
    CHECK(!links.is_probing(node));
    return reach;
}

template <class Call>
bool is_refused(int32_t code, Call &&call) {
    try {
        call();
    } catch (const Failure &failure) {
        return failure.error().code == code;
    }
    return false;
}

} // namespace ps
