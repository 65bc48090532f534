// What must hold of keys and values, always and in the end.
#pragma once

#include "world.h"

namespace ps::interleavings {

inline void check_places(World &world) {
    for (Key key = 0; key < world.num_keys; key++) {
        int places = world.in_transfer[key];
        for (auto &node : world.nodes) places += owns(node->values, key) + node->protocol.parked().brings(key);
        REQUIRE(places == 1);
    }
}

inline bool is_quiet(const World &world) {
    for (auto &node : world.nodes)
        if (!node->protocol.is_quiet()) return false;
    return are_empty(world.paths);
}

// When it is quiet.
inline void check_values(World &world) {
    for (Worker &worker : world.workers) worker.client->check_idle();
    for (Key key = 0; key < world.num_keys; key++) {
        Node *owner = world.owner(key);
        REQUIRE(owner && number_at(owner->values, key) == world.total[key]);
        for (auto &node : world.nodes) {
            Standing standing = node->values.standing(key);
            REQUIRE(standing != Standing::awaited);
            if (standing == Standing::replica) REQUIRE(number_at(node->values, key) == world.total[key]);
        }
    }
}

// A key that only one node intends to use is there; on many nodes perhaps as a replica.
inline void check_only_wanters(World &world) {
    if (world.techniques != Techniques::all) return;
    for (Key key = 0; key < world.num_keys; key++) {
        Node *only = nullptr;
        int wanters = 0;
        for (auto &node : world.nodes)
            if (node->intents[key] > 0) wanters++, only = node.get();
        if (wanters != 1) continue;
        const Standing standing = only->values.standing(key);
        REQUIRE(standing == Standing::owned || (standing == Standing::replica && world.num_nodes > few_nodes));
    }
}

// When nobody intends to use a key any more.
inline void check_nothing_is_left(World &world) {
    for (auto &node : world.nodes) {
        REQUIRE(node->protocol.remembers_nothing());
        for (Key key = 0; key < world.num_keys; key++) {
            Standing standing = node->values.standing(key);
            REQUIRE(standing == Standing::owned || standing == Standing::absent);
        }
    }
}

} // namespace ps::interleavings
