// A cluster of which every step is drawn: its nodes, its workers, what is on its way, and what values must be.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "../clients/client.h"
#include "../clients/desk.h"
#include "../clients/intents.h"
#include "../operations.h"
#include "../paths.h"
#include "../seeds.h"
#include "../stores.h"
#include "../trace.h"
#include "protocol/protocol.h"

namespace ps::interleavings {

using clients::Client;
using clients::Desk;
using clients::Plan;
using clients::WideShape;

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
    Key about = about_several;
};

inline bool may_overtake(const Letter &letter, const Letter &other) {
    return letter.about != about_several && other.about != about_several && letter.about != other.about;
}

// A worker: what it added, first what it has begun to add, and what it read last.
struct Worker {
    Worker(World &world, const Store &store, const WideShape &shape, NodeId node, uint64_t number);

    NodeId node;
    std::unique_ptr<Client> client;
    std::vector<int64_t> begun, added, read;
    std::vector<bool> intends;
};

struct Node {
    Node(Store &&own, World &world, const WideShape &shape, NodeId self, Techniques techniques);

    Store store;
    Values &values;
    std::unique_ptr<Post> mail;
    Desk desk;
    Protocol protocol;
    std::vector<int> intents; // of its workers, per key
    std::vector<std::function<void()>> behind; // parked steps of what their senders said before
};

using MakeStore = Store (*)(uint64_t num_keys);

struct World : clients::Surroundings {
    const NodeId num_nodes;
    const uint64_t num_keys;
    const WideShape shape;
    const bool sets; // then each key has one worker that writes, and its value is what that one made it last
    const bool keys_move; // or have replicas
    const Techniques techniques;
    std::vector<std::unique_ptr<Node>> nodes;
    std::vector<Worker> workers;
    Paths<Letter> paths;
    std::vector<int64_t> total;                // what was pushed
    std::vector<std::vector<int64_t>> history; // with sets: all values that the key has had
    std::vector<int> in_transfer;
    std::vector<int64_t> transferred; // the value in it
    bool is_settling = false;
    const bool sends_parts; // of deltas
    const bool keys_overtake; // each other, on a path
    Chance overtaking;

    World(uint64_t seed, MakeStore make)
        : Surroundings(seed), num_nodes(NodeId(1 + draw(5))), num_keys(1 + draw(4)),
          shape(num_keys, draw(3) > 0, num_nodes, 1 + uint32_t(draw(3)), draw(2)), sets(draw(4) == 0),
          keys_move(draw(4) > 0), techniques(draw_techniques(*this)), total(num_keys),
          history(num_keys, std::vector<int64_t>{0}), in_transfer(num_keys), transferred(num_keys),
          sends_parts(!sets && seed % 3 == 1), keys_overtake(seed % 2 == 1), overtaking(seed) {
        std::vector<NodeId> members;
        for (NodeId id = 0; id < num_nodes; id++) {
            nodes.push_back(std::make_unique<Node>(make(num_keys), *this, shape, id, techniques));
            nodes.back()->protocol.let_keys_go_home(skips_intents);
            send_parts(nodes.back()->values, sends_parts);
            members.push_back(id);
        }
        for (NodeId id = 0; id < num_nodes; id++)
            for (uint64_t i = 0; i <= draw(2); i++)
                workers.emplace_back(*this, nodes[id]->store, shape, id, workers.size());
        for (Worker &worker : workers) worker.client->begin_epoch(0, members, no_node);
        trace("%d nodes, %d keys, %d workers, techniques %d, sets %d", num_nodes, int(num_keys), int(workers.size()),
              int(techniques), sets);
    }

    void post(int from, int to, std::function<void()> deliver, std::shared_ptr<Run> run = nullptr,
              Key about = about_several) {
        if (to < num_nodes && from < num_nodes)
            deliver = [this, from, to, deliver = std::move(deliver)] {
                nodes[to]->protocol.hear_from(NodeId(from));
                deliver();
            };
        std::deque<Letter> &path = paths[{from, to}];
        path.push_back({std::move(deliver), std::move(run), about});
        if (keys_overtake) let_overtake(path, overtaking);
    }

    void post_to_server(uint64_t worker, NodeId to, Bytes message) override;
    void post_to_worker(NodeId from, uint64_t worker, Bytes message) override {
        post(from, worker_end(worker), [=] { workers[worker].client->receive(message); });
    }
    void post_through(NodeId from, NodeId through, uint64_t worker, Bytes message) override {
        post(from, through, [=] {
            auto pass_on = [=] { post_to_worker(through, worker, message); };
            Node &node = *nodes[through];
            node.protocol.parked().holds_up(from) ? node.behind.push_back(pass_on) : pass_on();
        });
    }
    Plan plan(uint64_t worker, Operation operation, Key key) override;
    void finish(uint64_t worker, Operation operation, Key key, const Plan &plan, int64_t value) override;
    void hear_lost(uint64_t, Key, NodeId) override { REQUIRE(!"nobody was lost"); }

    void flush() {
        for (auto &node : nodes) node->desk.flush(0);
    }

    bool deliver() {
        std::deque<Letter> *path = draw_path(paths, *this);
        if (!path) return false;
        take_first(path).deliver();
        flush();
        return true;
    }

    void retry(NodeId id) {
        Node &node = *nodes[id];
        node.protocol.retry(refuse_nothing);
        flush();
        if (!node.protocol.parked().empty()) return;
        for (auto &pass_on : std::exchange(node.behind, {})) pass_on();
    }

    Node *owner(Key key) {
        for (auto &node : nodes)
            if (owns(node->values, key)) return node.get();
        return nullptr;
    }
};

inline Worker::Worker(World &world, const Store &store, const WideShape &shape, NodeId node, uint64_t number)
    : node(node), client(std::make_unique<Client>(world, store, shape, node, number)), begun(shape.num_keys),
      added(shape.num_keys), read(shape.num_keys), intends(shape.num_keys) {}

inline Node::Node(Store &&own, World &world, const WideShape &shape, NodeId self, Techniques techniques)
    : store(std::move(own)), values(*store.values), mail(make_mail(world, self)), desk(world, shape, self),
      protocol(self, shape.homes(), techniques, values, *mail), intents(shape.num_keys) {}

inline void World::post_to_server(uint64_t worker, NodeId to, Bytes message) {
    FrameHeader header; // each channel takes its messages in their order
    std::memcpy(&header, message.data(), sizeof header);
    post(worker_end(worker) + int(header.channel) * channel_ends, to, [=] {
        Node &node = *nodes[to];
        node.desk.take(node.protocol, worker, message, [&](Key key, bool begin) {
            workers[worker].client->note_read(sizeof(Key));
            clients::act_on_intent(node, key, begin);
        });
    });
}

} // namespace ps::interleavings
