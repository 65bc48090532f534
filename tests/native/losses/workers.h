// What workers do, and what they must read.
#pragma once

#include <algorithm>

#include "../clients/intents.h"
#include "world.h"

namespace ps::losses {

using clients::intend;

// All that were begun are done, and none is done again because of a loss.
inline bool World::are_deletions_over(Key key) const {
    return std::none_of(deletions.begin(), deletions.end(), [&](const Deletion &deletion) {
        return deletion.key == key && (!deletion.is_done || deletion.nodes_out != count_out());
    });
}

// What a worker reads has what it pushed before.
inline Plan World::plan(uint64_t number, Operation operation, Key key) {
    if (operation == Operation::pull) return {0, pushes.acknowledged(key, number) | (is_linear ? seen[key] : 0)};
    int push = pushes.begin(key);
    trace("    worker %d: push %d of key %d", int(number), push, int(key));
    if (backups > 0 && !counts_uses && are_deletions_over(key)) lasting[key] |= Pushes::operand(push);
    return {Pushes::operand(push), push};
}

inline void World::finish(uint64_t number, Operation operation, Key key, const Plan &plan, int64_t value) {
    if (operation == Operation::push && dropped[key] & plan.operand) return; // once at least
    if (operation == Operation::push) {
        pushes.acknowledge(key, int(plan.floor), number);
        trace("    worker %d: push %d of key %d is acknowledged", int(number), int(plan.floor), int(key));
        seen[key] |= plan.operand;
        if (lasting[key] & plan.operand && !node_of(number).out) has_row[key] = true;
    }
    if (operation != Operation::pull || node_of(number).out) return;
    pushes.check(key, value);
    const int64_t floor = may_be_deleted[key] ? plan.floor & lasting[key] : plan.floor;
    REQUIRE((value & floor) == floor);
    seen[key] |= value;
}

inline void World::hear_lost(uint64_t number, Key key, NodeId lost_with) {
    trace("worker %d hears that key %d was lost with %d", int(number), int(key), lost_with);
    met.refused++;
    REQUIRE(backups == 0 || !is_safe);
    REQUIRE(lost_with < num_nodes && nodes[lost_with]->out);
    if (!node_of(number).out) said_lost[key] = true;
}

inline bool World::turns_away(const Protocol &protocol, Key key, const Request &request) {
    const bool counts = request.operation == Operation::pull || request.operation == Operation::push;
    if (!counts || protocol.is_empty() || !protocol.awaits_admission(key) || admits_all || draw(3) == 0) return false;
    trace("key %d was not used often enough", int(key));
    if (request.operation == Operation::push) dropped[key] |= number_of(request.value);
    met.dropped++;
    return true;
}

inline void operate(World &world, uint64_t number, std::vector<Key> keys, Operation operation) {
    if (operation == Operation::push)
        for (Key key : keys)
            if (!world.pushes.can_begin(key, int(keys.size()))) return;
    world.workers[number].client->operate(operation, std::move(keys));
}

inline std::vector<Key> draw_keys(World &world) {
    std::vector<Key> keys{world.draw(world.keys_in_use)};
    const bool is_large = world.num_keys > 6; // then the keys of an operation mostly have one home
    while (keys.size() < 5 && world.draw(3) > 0)
        keys.push_back(is_large ? (keys.back() + world.num_nodes) % world.keys_in_use : world.draw(world.keys_in_use));
    return keys;
}

inline bool may_be_erased(const World &world, Key key) {
    return key % 2 && !(world.backups > 0 && world.shape.is_range);
}

inline void ask_to_erase(World &world, size_t number) {
    const Deletion &deletion = world.deletions[number];
    const Key key = deletion.key;
    const NodeId from = world.workers[deletion.worker].node, to = NodeId(world.draw(world.num_nodes));
    trace("worker %d at %d deletes key %d, and asks %d", int(deletion.worker), from, int(key), to);
    const Origin origin{from, deleters + uint32_t(deletion.worker), 0, number, UINT32_MAX};
    Request request{Operation::erase, origin, {}};
    auto deliver = [=, &world] { world.nodes[to]->protocol.receive(key, request, false); };
    world.paths[{worker_end(deletion.worker), to}].push_back(
        {from, to, world.nodes[from]->heard, Kind::plain, deliver});
}

// What was pushed may then be gone. The worker does not wait for the answer, but asks again in each epoch.
inline void erase(World &world, uint64_t number, Key key) {
    const bool had_row = world.has_row[key];
    world.note_gone(key);
    world.deletions.push_back({key, number, world.pushes.acknowledged(key), had_row, world.count_out()});
    ask_to_erase(world, world.deletions.size() - 1);
}

inline void note_deleted(World &world, size_t number, bool had_row) {
    Deletion &deletion = world.deletions[number];
    if (deletion.is_answered) return;
    const bool is_certain = deletion.is_of_a_row && deletion.nodes_out == world.count_out();
    if (is_certain && world.is_safe) REQUIRE(had_row);
    deletion.is_answered = true;
}

inline void ask_to_erase_again(World &world, uint64_t worker) {
    for (size_t number = 0; number < world.deletions.size(); number++) {
        const Deletion &deletion = world.deletions[number];
        if (deletion.worker == worker && !deletion.is_answered && world.backups > 0) ask_to_erase(world, number);
    }
}

inline void act(World &world, uint64_t number) {
    if (world.node_of(number).dead || world.node_of(number).leaves) return;
    Worker &worker = world.workers[number];
    Key key = world.draw(world.keys_in_use);
    switch (world.draw(24)) {
    case 0:
    case 1: worker.client->localize(draw_keys(world)); return;
    case 2:
    case 3:
    case 4: return intend(world, number, key, !worker.intends[key]);
    case 5: return worker.client->abandon_one();
    case 6: return worker.client->ask();
    case 7:
        if (may_be_erased(world, key)) return erase(world, number, key);
        [[fallthrough]];
    default: operate(world, number, draw_keys(world), Operation(world.draw(2)));
    }
}

// A worker's connection to a node breaks, with a part of what is on its way; it sees that at once or later.
inline void break_connection(World &world, uint64_t number, NodeId node) {
    Worker &worker = world.workers[number];
    if (worker.client->is_dead()) return;
    trace("the connection of worker %d to %d breaks", int(number), node);
    world.met.broken++;
    for (auto path : {std::make_pair(worker_end(number), int(node)), std::make_pair(int(node), worker_end(number))}) {
        std::deque<Letter> &letters = world.paths[path];
        letters.resize(world.draw(letters.size() + 1));
    }
    world.unseen_breaks.emplace_back(number, node);
}

inline void see_breaks(World &world) {
    for (auto [worker, node] : std::exchange(world.unseen_breaks, {}))
        if (!world.workers[worker].client->is_dead()) world.workers[worker].client->note_break(node);
}

} // namespace ps::losses
