// A cluster of which every step is drawn: its nodes, its workers, what is on its way, and what values must be.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "../operations.h"
#include "../paths.h"
#include "../seeds.h"
#include "../stores.h"
#include "../trace.h"
#include "protocol/protocol.h"

namespace ps::interleavings {

struct World;

inline std::unique_ptr<Post> make_mail(World &world, NodeId self); // mail.h

// Messages about several keys, which are alike in what the tuple says.
struct Run {
    std::tuple<int, int, bool> alike;
    std::vector<Key> keys;
    std::vector<uint64_t> numbers;
};

struct Letter {
    std::function<void()> deliver;
    std::shared_ptr<Run> run; // or null
};

// A worker: operations that wait for their answers, never two on one key; what it added, and what it read last.
struct Worker {
    struct Pending {
        Operation operation;
        int64_t number;
    };

    Worker(NodeId node, uint64_t keys) : node(node), added(keys), read(keys), intends(keys) {}

    NodeId node;
    std::map<Key, Pending> pending;
    std::map<Key, int> localizing;
    std::vector<int64_t> added, read;
    std::vector<bool> intends;
};

struct Node {
    Node(Store &&own, World &world, NodeId self, NodeId nodes, uint64_t keys, Techniques techniques)
        : store(std::move(own)), values(*store.values), mail(make_mail(world, self)),
          protocol(self, nodes, keys, techniques, values, *mail), intents(keys) {}

    Store store;
    Values &values;
    std::unique_ptr<Post> mail;
    Protocol protocol;
    std::vector<int> intents; // of its workers, per key
    std::vector<std::function<void()>> behind; // parked steps of what their senders said before
};

using MakeStore = Store (*)(NodeId self, NodeId nodes, uint64_t num_keys);

struct World : Chance {
    const NodeId num_nodes;
    const uint64_t num_keys;
    const bool sets; // then each key has one worker that writes, and its value is what that one made it last
    const Techniques techniques;
    std::vector<std::unique_ptr<Node>> nodes;
    std::vector<Worker> workers;
    Paths<Letter> paths;
    std::vector<int64_t> total;                // what was pushed
    std::vector<std::vector<int64_t>> history; // with sets: all values that the key has had
    std::vector<int> in_transfer;
    std::vector<int64_t> transferred; // the value in it
    bool is_settling = false;

    World(uint64_t seed, MakeStore make)
        : Chance(seed), num_nodes(NodeId(1 + draw(5))), num_keys(1 + draw(4)), sets(draw(4) == 0),
          techniques(draw_techniques(*this)), total(num_keys), history(num_keys, std::vector<int64_t>{0}),
          in_transfer(num_keys), transferred(num_keys) {
        for (NodeId id = 0; id < num_nodes; id++)
            nodes.push_back(
                std::make_unique<Node>(make(id, num_nodes, num_keys), *this, id, num_nodes, num_keys, techniques));
        for (NodeId id = 0; id < num_nodes; id++)
            for (uint64_t i = 0; i <= draw(2); i++) workers.emplace_back(id, num_keys);
        trace("%d nodes, %d keys, %d workers, techniques %d", num_nodes, int(num_keys), int(workers.size()),
              int(techniques));
    }

    void post(int from, int to, std::function<void()> deliver, std::shared_ptr<Run> run = nullptr) {
        if (to < num_nodes)
            deliver = [this, from, to, deliver = std::move(deliver)] {
                nodes[to]->protocol.hear_from(NodeId(from));
                deliver();
            };
        paths[{from, to}].push_back({std::move(deliver), std::move(run)});
    }

    bool deliver() {
        std::deque<Letter> *path = draw_path(paths, *this);
        if (!path) return false;
        take_first(path).deliver();
        return true;
    }

    void retry(NodeId id) {
        Node &node = *nodes[id];
        node.protocol.retry(refuse_nothing);
        if (!node.protocol.parked().empty()) return;
        for (auto &pass_on : std::exchange(node.behind, {})) pass_on();
    }

    Node *owner(Key key) {
        for (auto &node : nodes)
            if (owns(node->values, key)) return node.get();
        return nullptr;
    }
};

} // namespace ps::interleavings
