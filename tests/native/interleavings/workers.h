// What workers do, and what they must read.
#pragma once

#include <algorithm>

#include "../clients/intents.h"
#include "world.h"

namespace ps::interleavings {

// Without sets, what the workers of a node added to a value has its own digits.
constexpr int digits = 12;
inline int64_t part_of(NodeId node, int64_t number) { return number >> (digits * node) & ((1 << digits) - 1); }

using clients::intend;

// Reads never go back, and have all that the worker wrote before.
inline Plan World::plan(uint64_t number, Operation operation, Key key) {
    Worker &worker = workers[number];
    if (operation == Operation::pull) {
        bool is_writer = key % workers.size() == number;
        if (!sets) return {0, std::max(worker.read[key], worker.begun[key])};
        return {0, is_writer ? int64_t(history[key].size()) - 1 : worker.read[key]};
    }
    auto operand = int64_t(draw(1'000'000));
    if (operation == Operation::push) operand = (1 + operand % 9) << (sets ? 0 : digits * worker.node);
    total[key] = (operation == Operation::push ? total[key] : 0) + operand;
    worker.begun[key] += operand;
    if (sets) history[key].push_back(total[key]);
    return {operand, 0};
}

inline void World::finish(uint64_t number, Operation operation, Key key, const Plan &plan, int64_t value) {
    Worker &worker = workers[number];
    trace("worker %d at %d finished: key %d, number %ld", int(number), worker.node, int(key), long(value));
    if (operation == Operation::push) worker.added[key] += plan.operand;
    if (operation != Operation::pull) return;
    if (sets) {
        std::vector<int64_t> &values = history[key];
        auto found = std::find(values.begin() + plan.floor, values.end(), value);
        REQUIRE(found != values.end());
        worker.read[key] = std::max(worker.read[key], int64_t(found - values.begin()));
    } else {
        REQUIRE(value >= plan.floor);
        worker.read[key] = std::max(worker.read[key], value);
    }
}

// A key that the worker may write; with sets one of its own, if it has any.
inline Key draw_key(World &world, uint64_t number, Operation operation) {
    if (!world.sets || operation == Operation::pull) return world.draw(world.num_keys);
    uint64_t workers = world.workers.size();
    return number + workers * world.draw((world.num_keys - number + workers - 1) / workers);
}

// With sets, one that writes a key never has two pushes on their way: which comes first would show.
inline void operate(World &world, uint64_t number) {
    Worker &worker = world.workers[number];
    auto operation = Operation(world.draw(world.sets ? 3 : 2));
    if (world.sets && number >= world.num_keys) operation = Operation::pull;
    std::vector<Key> keys;
    do {
        Key key = draw_key(world, number, operation);
        bool is_again = std::count(keys.begin(), keys.end(), key) ||
                        (operation == Operation::push && worker.client->is_busy(key, operation));
        if (!world.sets || operation == Operation::pull || !is_again) keys.push_back(key);
    } while (keys.size() < 5 && world.draw(3) > 0);
    if (!keys.empty()) worker.client->operate(operation, std::move(keys));
}

inline void localize(World &world, uint64_t number) {
    std::vector<Key> keys{world.draw(world.num_keys)};
    while (world.draw(2) && keys.size() < 5) keys.push_back(world.draw(world.num_keys));
    world.workers[number].client->localize(keys);
}

inline void act(World &world, uint64_t number) {
    Worker &worker = world.workers[number];
    Key key = world.draw(world.num_keys);
    uint64_t what = world.draw(24);
    if (what < 2 && world.keys_move) return localize(world, number);
    if (what < 6 && world.keys_move) return intend(world, number, key, !worker.intends[key]);
    if (what == 6) return worker.client->abandon_one();
    if (what == 7) return worker.client->ask();
    operate(world, number);
}

} // namespace ps::interleavings
