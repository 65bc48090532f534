// What workers do, and what they must read.
#pragma once

#include <algorithm>

#include "world.h"

namespace ps::losses {

inline void intend(World &world, uint64_t number, Key key, bool begin) {
    Worker &worker = world.workers[number];
    if (worker.intends[key] == begin) return;
    worker.intends[key] = begin;
    int &intents = world.node_of(number).intents[key];
    world.post_from_worker(number, worker.node, Kind::anytime, [=, &intents](Protocol &at) {
        intents += begin ? 1 : -1;
        if (begin && intents == 1) at.want({key});
        if (!begin && intents == 0) at.stop_wanting({key});
    });
}

inline uint64_t start(World &world, const Pending &operation) {
    world.pending[++world.last_operation] = operation;
    return world.last_operation;
}

inline void localize(World &world, uint64_t number, Key key) {
    uint64_t waiter = start(world, {number, Operation::localize, key, -1});
    world.post_from_worker(number, world.workers[number].node, Kind::plain,
                           [=](Protocol &at) { at.localize({key}, waiter); });
}

// What a worker reads has what it pushed.
inline void finish(World &world, const Pending &done, int64_t value) {
    if (done.operation == Operation::push) world.pushes.acknowledge(done.key, done.push, done.worker);
    if (done.operation == Operation::pull && !world.node_of(done.worker).out)
        world.pushes.check(done.key, value, [&](uint64_t worker) { return worker == done.worker; });
}

inline void take_answer(World &world, uint64_t operation, const Bytes &value) {
    auto found = world.pending.find(operation);
    if (found == world.pending.end()) return; // it was given up
    finish(world, found->second, value.empty() ? 0 : number_of(value));
    world.pending.erase(found);
}

inline void take_refusal(World &world, uint64_t operation, NodeId lost_with) {
    auto found = world.pending.find(operation);
    if (found == world.pending.end()) return;
    world.met.refused++;
    REQUIRE(lost_with < world.num_nodes && world.nodes[lost_with]->out);
    if (!world.node_of(found->second.worker).out) world.said_lost[found->second.key] = true;
    world.pending.erase(found);
}

inline void operate(World &world, uint64_t number, Key key, Operation operation) {
    for (auto &[id, known] : world.pending)
        if (known.worker == number && known.key == key && known.operation != Operation::localize) return;
    Node &node = world.node_of(number);
    if ((*node.store.stops)[key]) return;
    bool pushes = operation == Operation::push;
    if (pushes && !world.pushes.can_begin(key)) return;
    int push = pushes ? world.pushes.begin(key) : -1;
    int64_t operand = pushes ? Pushes::operand(push) : 0;
    NodeId id = world.workers[number].node;
    if (is_here(node.values, operation, key)) {
        finish(world, {number, operation, key, push}, do_here(node.values, operation, key, operand));
        return;
    }
    trace("worker %d at %d starts %d on key %d", int(number), id, int(operation), int(key));
    Origin origin{id, uint32_t(number), 0, start(world, {number, operation, key, push})};
    Request request = request_for(operation, origin, operand);
    NodeId to = whom_to_ask(node.store, key, id, world.num_nodes, world);
    const std::vector<NodeId> &members = world.epochs[node.heard].members;
    if (std::find(members.begin(), members.end(), to) == members.end())
        to = HomeRule(world.num_nodes, members).home(key);
    world.post_from_worker(number, to, Kind::plain, [=](Protocol &at) { at.receive(key, request, false); });
}

inline void act(World &world, uint64_t number) {
    if (world.node_of(number).dead) return;
    Key key = world.draw(world.num_keys);
    switch (world.draw(8)) {
    case 0: localize(world, number, key); return;
    case 1:
    case 2: intend(world, number, key, !world.workers[number].intends[key]); return;
    default: operate(world, number, key, Operation(world.draw(2)));
    }
}

} // namespace ps::losses
