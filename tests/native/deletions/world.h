// A cluster whose keys are deleted, of which every step is drawn: its nodes, what is on its way, and what workers ask.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "../operations.h"
#include "../paths.h"
#include "../stores.h"
#include "../trace.h"
#include "account.h"
#include "protocol/protocol.h"

namespace ps::deletions {

struct World;

inline std::unique_ptr<Post> make_mail(World &world, NodeId self); // mail.h

struct Node {
    Node(World &world, NodeId self, Techniques techniques, NodeId backups);

    NumberStore values;
    std::unique_ptr<Post> mail;
    Protocol protocol;
    std::vector<int> intents; // of its workers, per key
    std::vector<bool> wants; // per key: the protocol knows of these intents
    std::vector<std::function<void()>> behind; // parked steps of what their senders said before
};

// A worker asks one thing at a time.
struct Worker {
    NodeId node;
    std::vector<bool> intends; // by key
    bool is_busy = false;
};

using Letter = std::function<void()>;

struct World : Chance {
    const NodeId num_nodes;
    const uint64_t num_keys;
    const KeySpace space;
    const NodeId backups; // of each key
    std::vector<std::unique_ptr<Node>> nodes;
    std::vector<Worker> workers;
    Paths<Letter> paths;
    std::vector<int> in_transfer; // by key
    Account account;
    std::vector<std::function<void(const Bytes &value)>> questions; // what is done with the answer, by their number
    bool is_settling = false;
    const bool counts_uses; // keys get rows when they were used often enough

    explicit World(uint64_t seed)
        : Chance(seed), num_nodes(NodeId(1 + draw(4))), num_keys(1 + draw(3)),
          space(draw(2) ? KeySpace::range(num_keys) : KeySpace::any()),
          backups(space.is_range() ? NodeId(0) : NodeId(draw(std::min<NodeId>(num_nodes, 3)))), in_transfer(num_keys),
          account(num_keys), counts_uses(!space.is_range() && seed % 3 == 0) {
        const Techniques techniques = draw_techniques(*this);
        for (NodeId id = 0; id < num_nodes; id++)
            nodes.push_back(std::make_unique<Node>(*this, id, techniques, backups));
        for (NodeId id = 0; id < num_nodes; id++)
            for (uint64_t i = 0; i <= draw(2); i++) workers.push_back({id, std::vector<bool>(num_keys)});
        trace("%d nodes, %d keys, %d workers, techniques %d, %d backups", num_nodes, int(num_keys), int(workers.size()),
              int(techniques), backups);
    }

    NodeId home(Key key) const { return HomeRule::of_all(num_nodes, space).home(key); }

    void post(int from, int to, Letter deliver) {
        if (to < num_nodes && from < num_nodes)
            deliver = [this, from, to, deliver = std::move(deliver)] {
                nodes[to]->protocol.hear_from(NodeId(from));
                deliver();
            };
        paths[{from, to}].push_back(std::move(deliver));
    }

    bool deliver() {
        std::deque<Letter> *path = draw_path(paths, *this);
        if (!path) return false;
        take_first(path)();
        return true;
    }

    void retry(Node &node) {
        node.protocol.retry(refuse_nothing);
        if (!node.protocol.parked().empty()) return;
        for (auto &pass_on : std::exchange(node.behind, {})) pass_on();
    }

    // Let a server answer; `then` gets the value of the answer.
    void ask(uint64_t worker, NodeId server, Operation operation, Key key, const Bytes &value,
             std::function<void(const Bytes &value)> then) {
        workers[worker].is_busy = true;
        questions.push_back([this, worker, then = std::move(then)](const Bytes &answer) {
            workers[worker].is_busy = false;
            then(answer);
        });
        Request request{operation, Origin{workers[worker].node, uint32_t(worker), 0, questions.size() - 1}, value};
        trace("worker %d of %d asks %d: operation %d of key %d", int(worker), workers[worker].node, server,
              int(operation), int(key));
        post(worker_end(worker), server, [=] {
            Protocol &protocol = nodes[server]->protocol;
            if (turns_away(*nodes[server], key, request)) return;
            if (is_write(operation))
                protocol.receive_writes({key}, {0}, operation, request.origin, request.value.data(), false);
            else
                protocol.receive(key, request, false);
        });
    }

    // As the server does before a protocol gets a pull or push. True: the key was not used often enough, and the
    // request is answered.
    bool turns_away(Node &node, Key key, const Request &request) {
        const bool counts = request.operation == Operation::pull || request.operation == Operation::push;
        if (!counts || !node.protocol.awaits_admission(key) || draw(3) == 0) return false;
        trace("key %d was not used often enough", int(key));
        if (request.operation == Operation::push) account.drop(key, account.push_of(number_of(request.value)));
        node.mail->answer(request.origin, key, request.operation == Operation::pull ? bytes_of(0) : Bytes(), false);
        return true;
    }

    void answer(uint64_t question, const Bytes &value) {
        REQUIRE(questions[question]);
        std::exchange(questions[question], nullptr)(value);
    }

    Node *owner(Key key) {
        for (auto &node : nodes)
            if (owns(node->values, key)) return node.get();
        return nullptr;
    }
};

inline Node::Node(World &world, NodeId self, Techniques techniques, NodeId backups)
    : values(world.num_keys), mail(make_mail(world, self)),
      protocol(self, HomeRule::of_all(world.num_nodes, world.space), techniques, values, *mail, {}, backups),
      intents(world.num_keys), wants(world.num_keys) {
    if (world.counts_uses) protocol.require_admission();
}

} // namespace ps::deletions
