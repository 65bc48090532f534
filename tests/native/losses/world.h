// A cluster that loses nodes, of which every step is drawn: its nodes, its workers, what is on its way, its epochs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
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
#include "membership/crossing.h"
#include "protocol/protocol.h"
#include "pushes.h"

namespace ps::losses {

using clients::Client;
using clients::Desk;
using clients::Plan;
using clients::WideShape;

struct World;

inline std::unique_ptr<Post> make_mail(World &world, NodeId self); // mail.h

// How a letter is judged that comes to a node in another epoch. Answers to workers and news of epochs are not judged.
enum class Kind { plain, brings_keys, crossing, anytime, not_judged };

struct Letter {
    NodeId from, to;
    uint32_t epoch;
    Kind kind;
    std::function<void()> deliver;
    Key about = about_several;
};

inline bool may_overtake(const Letter &letter, const Letter &other) {
    return letter.about != about_several && other.about != about_several && letter.about != other.about &&
           letter.epoch == other.epoch;
}

struct Node {
    Node(World &world, const WideShape &shape, NodeId self, Techniques techniques, NodeId backups);

    Store store;
    Values &values;
    std::unique_ptr<Post> mail;
    Desk desk;
    Protocol protocol;
    Crossing crossing;
    uint32_t heard = 0;             // the epoch that its workers know
    bool dead = false, out = false; // dead: or not there yet; out: no member, but it does not know
    bool leaves = false;
    std::deque<Letter> held;
    std::vector<std::function<void()>> behind; // parked steps of what their senders said before
    std::vector<int> intents; // of its workers, per key
};

struct Worker {
    Worker(World &world, const Store &store, const WideShape &shape, NodeId node, uint64_t number);

    NodeId node;
    std::unique_ptr<Client> client;
    std::vector<bool> intends; // by key
};

struct Epoch {
    std::vector<NodeId> members;
    NodeId lost; // the last one
};

struct Deletion {
    Key key;
    uint64_t worker;
    int64_t before;   // pushes that were acknowledged
    bool is_of_a_row; // certainly, unless another one or a loss comes before its answer
    size_t nodes_out;
    bool is_done = false, is_answered = false; // answered: and the worker knows
};

struct Met {
    long keys_lost = 0, keys_rehomed = 0, taken_late = 0, refused = 0, broken = 0, secure = 0, taken_over = 0,
         departed = 0, joined = 0, spread = 0, dropped = 0;

    void operator+=(const Met &other) {
        keys_lost += other.keys_lost;
        keys_rehomed += other.keys_rehomed;
        taken_late += other.taken_late;
        refused += other.refused;
        broken += other.broken;
        secure += other.secure;
        taken_over += other.taken_over;
        departed += other.departed;
        joined += other.joined;
        spread += other.spread;
        dropped += other.dropped;
    }
};

// Paths from whoever decides that a node is lost, and from a node's workers, who hear it first, to its server; and of
// workers' intents and hellos, which no broken connection takes here.
constexpr uint32_t deleters = 1000; // number of a worker, for its deletions, for whose answers it does not wait
constexpr int decider_end = 2000, hearsay_end = 2001, intents_end = 3000;

struct World : clients::Surroundings {
    const NodeId backups; // of each key
    NodeId next_to_join;
    const NodeId num_nodes; // those that join later among them
    const uint64_t num_keys;
    const WideShape shape;
    const bool connections_break; // of workers
    const bool deletions_matter; // nodes are lost, and join, when keys are deleted
    int losses_left;
    const int losses_that_follow; // of these: of a node that matters, about so many steps later
    const uint64_t soon;
    NodeId matters = no_node;
    bool is_one_to_join = false; // about as soon
    const uint64_t keys_in_use; // workers leave the others alone
    int lost_at_once = 0; // nodes, since each key had its backups
    size_t copies = 0; // that each key had then
    bool is_safe = true; // never were that more than there are backups
    std::vector<std::unique_ptr<Node>> nodes;
    std::vector<Worker> workers;
    Paths<Letter> paths;
    std::vector<std::pair<uint64_t, NodeId>> unseen_breaks; // worker and node
    Pushes pushes;
    std::vector<bool> said_lost; // by key: to a worker of a member
    std::vector<bool> may_be_lost; // by key: it was at a node that was lost, or on its way
    bool is_linear = false; // what one worker was told or has read, all others read from then on
    std::vector<int64_t> seen; // by key: that
    std::vector<bool> loaded; // by key
    std::vector<bool> may_be_deleted; // by key: a worker asked for that
    std::vector<Deletion> deletions;
    std::vector<int64_t> lasting; // by key: pushes that no deletion can meet that has begun
    std::vector<bool> has_row; // by key: certainly, as one of these was acknowledged
    std::vector<int64_t> gone; // by key: pushes that were acknowledged before a deletion began that was, too
    std::vector<Epoch> epochs;
    Met met;
    const bool counts_uses; // keys exist when they were used often enough
    const bool sends_parts; // of deltas
    const bool keys_overtake; // each other, on a path
    Chance overtaking;
    bool admits_all = false;
    std::vector<int64_t> dropped; // by key: operands of pushes to which nothing was done

    explicit World(uint64_t seed)
        : Surroundings(seed), backups(draw(2) ? NodeId(1 + draw(3)) : NodeId(0)), next_to_join(NodeId(2 + draw(4))),
          num_nodes(NodeId(next_to_join + (backups > 0 ? draw(3) : 0))), num_keys((seed % 4 == 3 ? 8 : 1) + draw(6)),
          shape(num_keys, draw(3) > 0, next_to_join, 1 + uint32_t(draw(3)), draw(2), NodeId(num_nodes - next_to_join)),
          connections_break(draw(2)), deletions_matter(backups > 0 && seed % 2),
          losses_left(int(draw(std::min<uint64_t>(3, next_to_join - 1u)) + 1)),
          losses_that_follow(backups > 0 && draw(2) ? losses_left - int(draw(2)) : 0), soon(uint64_t(4) << draw(5)),
          keys_in_use(losses_that_follow > 0 && draw(2) ? num_keys - num_keys / 3 : num_keys), pushes(num_keys),
          said_lost(num_keys), may_be_lost(num_keys), seen(num_keys), loaded(num_keys), may_be_deleted(num_keys),
          lasting(num_keys), has_row(num_keys), gone(num_keys), epochs{{{}, no_node}},
          counts_uses(!shape.is_range && seed % 3 == 1), sends_parts(seed % 3 == 2), keys_overtake(seed % 4 == 2),
          overtaking(seed), dropped(num_keys) {
        Techniques techniques = draw_techniques(*this);
        is_linear = backups > 0 && techniques == Techniques::relocation_only;
        for (NodeId id = 0; id < num_nodes; id++) {
            nodes.push_back(std::make_unique<Node>(*this, shape, id, techniques, backups));
            nodes.back()->protocol.let_keys_go_home(skips_intents);
            send_parts(nodes.back()->values, sends_parts);
            nodes[id]->dead = id >= next_to_join;
        }
        epochs[0].members = HomeRule::first_nodes(next_to_join);
        copies = std::min<size_t>(backups, members().size() - 1);
        for (NodeId id : members()) hire_workers(id);
        for (Worker &worker : workers) worker.client->begin_epoch(0, members(), no_node);
        trace("%d nodes of %d, %d keys, %d backups", next_to_join, num_nodes, int(num_keys), backups);
    }

    void hire_workers(NodeId node) {
        for (uint64_t i = 0; i <= draw(2); i++)
            workers.emplace_back(*this, nodes[node]->store, shape, node, workers.size());
    }

    Node &node_of(uint64_t worker) { return *nodes[workers[worker].node]; }
    const std::vector<NodeId> &members() const { return epochs.back().members; }

    NodeId draw_member() { return members()[draw(members().size())]; }

    Node *owner(Key key) { // among the members
        for (NodeId node : members())
            if (owns(nodes[node]->values, key)) return nodes[node].get();
        return nullptr;
    }

    // No loss of a node now can take anything along.
    bool is_secure() const {
        return backups > 0 && std::all_of(members().begin(), members().end(), [&](NodeId id) {
                   const Node &node = *nodes[id];
                   const Crossing &crossing = node.crossing;
                   return crossing.epoch() + 1 == epochs.size() && crossing.is_settled() &&
                          std::all_of(members().begin(), members().end(),
                                      [&](NodeId other) { return node.protocol.knows_secure(other); });
               });
    }

    // A loss of this node would be worst now: it takes over keys, or was given them.
    void note_that_matters(NodeId node) {
        if (losses_that_follow > 0) matters = node;
    }

    bool is_at_a_member(Key key) const {
        return std::any_of(members().begin(), members().end(), [&](NodeId node) {
            return owns(nodes[node]->values, key) || nodes[node]->protocol.parked().brings(key);
        });
    }

    bool are_deletions_over(Key key) const;

    // Its row may be, from now on.
    void note_gone(Key key) {
        may_be_deleted[key] = true;
        lasting[key] = 0;
        has_row[key] = false;
        for (Deletion &deletion : deletions) deletion.is_of_a_row &= deletion.key != key;
    }

    // Deletions that were not answered may be, which meet what came between.
    void note_done_again() {
        for (const Deletion &deletion : deletions) {
            if (deletion.is_answered) continue;
            lasting[deletion.key] = 0;
            has_row[deletion.key] = false;
        }
    }

    size_t count_out() const {
        return size_t(std::count_if(nodes.begin(), nodes.end(), [](const auto &node) { return node->out; }));
    }

    void post(NodeId from, NodeId to, Kind kind, std::function<void(Protocol &)> deliver, Key about = about_several) {
        REQUIRE(to != from);
        Protocol &protocol = nodes[to]->protocol;
        std::deque<Letter> &path = paths[{from, to}];
        path.push_back({from, to, nodes[from]->crossing.epoch(), kind, [=, &protocol] { deliver(protocol); }, about});
        if (keys_overtake) let_overtake(path, overtaking);
    }

    void post_to_server(uint64_t worker, NodeId to, Bytes message) override;
    void post_to_worker(NodeId from, uint64_t worker, Bytes message) override {
        post_not_judged(from, worker_end(worker), [=] { workers[worker].client->receive(message); });
    }
    void post_through(NodeId from, NodeId through, uint64_t worker, Bytes message) override {
        post(from, through, Kind::plain, [=](Protocol &at) {
            auto pass_on = [=] { post_to_worker(through, worker, message); };
            at.parked().holds_up(from) ? nodes[through]->behind.push_back(pass_on) : pass_on();
        });
    }
    Plan plan(uint64_t worker, Operation operation, Key key) override;
    void finish(uint64_t worker, Operation operation, Key key, const Plan &plan, int64_t value) override;
    void hear_lost(uint64_t worker, Key key, NodeId lost_with) override;
    bool turns_away(const Protocol &protocol, Key key, const Request &request) override;

    void flush() {
        for (auto &node : nodes) node->desk.flush(node->crossing.epoch());
    }

    void tick(double seconds) {
        now += seconds;
        for (Worker &worker : workers) worker.client->tick();
    }

    void post_not_judged(int from, int to, std::function<void()> deliver) {
        paths[{from, to}].push_back({no_node, no_node, 0, Kind::not_judged, std::move(deliver)});
    }

    void retry(NodeId id) {
        Node &node = *nodes[id];
        if (node.dead) return;
        node.protocol.retry(refuse_nothing);
        flush();
        if (!node.protocol.parked().empty()) return;
        for (auto &pass_on : std::exchange(node.behind, {})) pass_on();
    }

    // What workers of a node wait for, which is over.
    void kill_workers(NodeId node) {
        for (Worker &worker : workers)
            if (worker.node == node) worker.client->die();
    }
};

inline Worker::Worker(World &world, const Store &store, const WideShape &shape, NodeId node, uint64_t number)
    : node(node), client(std::make_unique<Client>(world, store, shape, node, number, world.backups > 0)),
      intends(shape.num_keys) {}

inline Node::Node(World &world, const WideShape &shape, NodeId self, Techniques techniques, NodeId backups)
    : store(make_store<NumberStore>(shape.num_keys)), values(*store.values), mail(make_mail(world, self)),
      desk(world, shape, self), protocol(self, shape.homes(), techniques, values, *mail, {}, backups),
      crossing(shape.places()), intents(shape.num_keys) {
    if (world.counts_uses) protocol.require_admission();
}

// Intents and questions are no operations: nobody gives them up with a former epoch.
inline void World::post_to_server(uint64_t worker, NodeId to, Bytes message) {
    FrameHeader header;
    std::memcpy(&header, message.data(), sizeof header);
    bool is_kept = header.kind == ps::Kind::intent || header.kind == ps::Kind::hello; // a hello is about intents
    int path = is_kept ? intents_end + int(worker) : worker_end(worker);
    Kind kind = header.kind == ps::Kind::request ? Kind::plain : Kind::anytime;
    paths[{path, to}].push_back({workers[worker].node, to, header.epoch, kind, [=] {
                                     Node &node = *nodes[to];
                                     node.desk.take(node.protocol, worker, message, [&](Key key, bool begin) {
                                         workers[worker].client->note_read(sizeof(Key));
                                         clients::act_on_intent(node, key, begin);
                                     });
                                 }});
}

} // namespace ps::losses
