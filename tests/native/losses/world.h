// A cluster that loses nodes, of which every step is drawn: its nodes, its workers, what is on its way, its epochs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "../operations.h"
#include "../paths.h"
#include "../seeds.h"
#include "../stores.h"
#include "../trace.h"
#include "membership/crossing.h"
#include "protocol/protocol.h"
#include "pushes.h"

namespace ps::losses {

struct World;

inline std::unique_ptr<Post> make_mail(World &world, NodeId self); // mail.h

// How a letter is judged that comes to a node in another epoch. Answers to workers and news of epochs are not judged.
enum class Kind { plain, brings_keys, crossing, anytime, not_judged };

struct Letter {
    NodeId from, to;
    uint32_t epoch;
    Kind kind;
    std::function<void()> deliver;
};

struct Node {
    Node(World &world, NodeId self, NodeId nodes, uint64_t keys, Techniques techniques)
        : store(make_store<NumberStore>(self, nodes, keys)), values(*store.values), mail(make_mail(world, self)),
          protocol(self, nodes, keys, techniques, values, *mail), crossing(nodes), intents(keys) {}

    Store store;
    Values &values;
    std::unique_ptr<Post> mail;
    Protocol protocol;
    Crossing crossing;
    uint32_t heard = 0;             // the epoch that its workers know
    bool dead = false, out = false; // out: no member, but it does not know
    std::deque<Letter> held;
    std::vector<std::function<void()>> behind; // parked steps of what their senders said before
    std::vector<int> intents; // of its workers, per key
};

struct Worker {
    NodeId node;
    std::vector<bool> intends; // by key
};

struct Pending {
    uint64_t worker;
    Operation operation;
    Key key;
    int push;
};

struct Epoch {
    std::vector<NodeId> members;
    NodeId lost;
};

struct Met {
    long keys_lost = 0, keys_rehomed = 0, taken_late = 0, refused = 0;

    void operator+=(const Met &other) {
        keys_lost += other.keys_lost;
        keys_rehomed += other.keys_rehomed;
        taken_late += other.taken_late;
        refused += other.refused;
    }
};

// Paths from whoever decides that a node is lost, and from a node's workers, who hear it first, to its server.
constexpr int decider_end = 2000, hearsay_end = 2001;

struct World : Chance {
    const NodeId num_nodes;
    const uint64_t num_keys;
    int losses_left;
    std::vector<std::unique_ptr<Node>> nodes;
    std::vector<Worker> workers;
    Paths<Letter> paths;
    std::map<uint64_t, Pending> pending;
    uint64_t last_operation = 0;
    Pushes pushes;
    std::vector<bool> said_lost; // by key: to a worker of a member
    std::vector<bool> may_be_lost; // by key: it was at a node that was lost, or on its way
    std::vector<Epoch> epochs;
    Met met;

    explicit World(uint64_t seed)
        : Chance(seed), num_nodes(NodeId(2 + draw(4))), num_keys(1 + draw(6)),
          losses_left(int(draw(std::min<uint64_t>(3, num_nodes - 1)) + 1)), pushes(num_keys), said_lost(num_keys),
          may_be_lost(num_keys), epochs{{{}, no_node}} {
        Techniques techniques = draw_techniques(*this);
        for (NodeId id = 0; id < num_nodes; id++) {
            nodes.push_back(std::make_unique<Node>(*this, id, num_nodes, num_keys, techniques));
            epochs[0].members.push_back(id);
            for (uint64_t i = 0; i <= draw(2); i++) workers.push_back({id, std::vector<bool>(num_keys)});
        }
        trace("%d nodes, %d keys", num_nodes, int(num_keys));
    }

    Node &node_of(uint64_t worker) { return *nodes[workers[worker].node]; }
    const std::vector<NodeId> &members() const { return epochs.back().members; }

    Node *owner(Key key) { // among the members
        for (NodeId node : members())
            if (owns(nodes[node]->values, key)) return nodes[node].get();
        return nullptr;
    }

    bool is_at_a_member(Key key) const {
        return std::any_of(members().begin(), members().end(), [&](NodeId node) {
            return owns(nodes[node]->values, key) || nodes[node]->protocol.parked().brings(key);
        });
    }

    void post(NodeId from, NodeId to, Kind kind, std::function<void(Protocol &)> deliver) {
        REQUIRE(to != from);
        Protocol &protocol = nodes[to]->protocol;
        paths[{from, to}].push_back(
            {from, to, nodes[from]->crossing.epoch(), kind, [=, &protocol] { deliver(protocol); }});
    }

    void post_from_worker(uint64_t worker, NodeId to, Kind kind, std::function<void(Protocol &)> deliver) {
        Protocol &protocol = nodes[to]->protocol;
        paths[{worker_end(worker), to}].push_back(
            {workers[worker].node, to, node_of(worker).heard, kind, [=, &protocol] { deliver(protocol); }});
    }

    void post_not_judged(int from, int to, std::function<void()> deliver) {
        paths[{from, to}].push_back({no_node, no_node, 0, Kind::not_judged, std::move(deliver)});
    }

    void retry(NodeId id) {
        Node &node = *nodes[id];
        if (node.dead) return;
        node.protocol.retry(refuse_nothing);
        if (!node.protocol.parked().empty()) return;
        for (auto &pass_on : std::exchange(node.behind, {})) pass_on();
    }

    template <class Chosen>
    void give_up(Chosen &&chosen) { // what workers of the chosen nodes wait for
        for (auto it = pending.begin(); it != pending.end();)
            it = chosen(workers[it->second.worker].node) ? pending.erase(it) : std::next(it);
    }
};

} // namespace ps::losses
