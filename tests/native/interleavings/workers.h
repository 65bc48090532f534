// What workers do, and what they must read.
#pragma once

#include <algorithm>

#include "world.h"

namespace ps::interleavings {

// Without sets, what the workers of a node added to a value has its own digits.
constexpr int digits = 12;
inline int64_t part_of(NodeId node, int64_t number) { return number >> (digits * node) & ((1 << digits) - 1); }

// Several keys at once, some of them twice.
inline void localize(World &world, uint64_t number, Key key) {
    Worker &worker = world.workers[number];
    std::vector<Key> keys{key};
    while (world.draw(2)) keys.push_back(world.draw(world.num_keys));
    for (Key k : keys) {
        worker.localizing[k]++;
        trace("worker %d at %d localizes %d", int(number), worker.node, int(k));
    }
    world.nodes[worker.node]->protocol.localize(keys, number);
}

inline void intend(World &world, Worker &worker, Key key, bool begin) {
    Node &node = *world.nodes[worker.node];
    if (worker.intends[key] == begin) return;
    worker.intends[key] = begin;
    node.intents[key] += begin ? 1 : -1;
    trace("a worker at %d %s %d", worker.node, begin ? "wants" : "stops wanting", int(key));
    if (begin && node.intents[key] == 1) node.protocol.want(std::vector<Key>{key});
    if (!begin && node.intents[key] == 0) node.protocol.stop_wanting(std::vector<Key>{key});
}

// Reads never go back, and have all that the worker wrote.
inline void finish(World &world, Worker &worker, Key key, Worker::Pending pending, int64_t number) {
    trace("a worker at %d finished: key %d, number %d", worker.node, int(key), int(number));
    if (pending.operation == Operation::push) worker.added[key] += pending.number;
    if (pending.operation != Operation::pull) return;
    if (world.sets) {
        std::vector<int64_t> &values = world.history[key];
        bool is_writer = &worker == &world.workers[key % world.workers.size()];
        auto from = is_writer ? values.end() - 1 : values.begin() + worker.read[key];
        auto found = std::find(from, values.end(), number);
        REQUIRE(found != values.end());
        worker.read[key] = found - values.begin();
    } else {
        REQUIRE(number >= worker.read[key]);
        REQUIRE(number >= worker.added[key]);
        worker.read[key] = number;
    }
}

inline void take_answer(World &world, uint64_t number, Key key, const Bytes &value) {
    Worker &worker = world.workers[number];
    REQUIRE(worker.pending.count(key) == 1);
    Worker::Pending pending = worker.pending[key];
    worker.pending.erase(key);
    finish(world, worker, key, pending, value.empty() ? 0 : number_of(value));
}

inline void operate(World &world, uint64_t number, Key key) {
    Worker &worker = world.workers[number];
    if (worker.pending.count(key)) return;
    Node &node = *world.nodes[worker.node];
    if ((*node.store.stops)[key]) return;
    bool writes = !world.sets || key % world.workers.size() == number;
    auto operation = writes ? Operation(world.draw(world.sets ? 3 : 2)) : Operation::pull;
    auto operand = int64_t(world.draw(1'000'000));
    if (operation == Operation::push) operand = (1 + operand % 9) << (world.sets ? 0 : digits * worker.node);
    trace("worker %d at %d: %s %d, standing %d", int(number), worker.node,
          operation == Operation::pull   ? "pull"
          : operation == Operation::push ? "push"
                                         : "set",
          int(key), int(node.values.standing(key)));
    if (operation == Operation::push) world.total[key] += operand;
    if (operation == Operation::set) world.total[key] = operand;
    if (world.sets && operation != Operation::pull) world.history[key].push_back(world.total[key]);
    if (is_here(node.values, operation, key)) {
        finish(world, worker, key, {operation, operand}, do_here(node.values, operation, key, operand));
        return;
    }
    worker.pending[key] = {operation, operand};
    Request request = request_for(operation, Origin{worker.node, uint32_t(number), 0, 0}, operand);
    NodeId to = whom_to_ask(node.store, key, worker.node, world.num_nodes, world);
    world.post(worker_end(number), to, [=, &world] { world.nodes[to]->protocol.receive(key, request, false); });
}

inline void act(World &world, uint64_t number) {
    Worker &worker = world.workers[number];
    Key key = world.draw(world.num_keys);
    switch (world.draw(8)) {
    case 0: localize(world, number, key); return;
    case 1:
    case 2: intend(world, worker, key, !worker.intends[key]); return;
    default: operate(world, number, key);
    }
}

} // namespace ps::interleavings
