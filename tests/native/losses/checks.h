// What must hold of keys and values, always and in the end.
#pragma once

#include "world.h"

namespace ps::losses {

inline void check_owners(World &world) {
    for (Key key = 0; key < world.num_keys; key++) {
        int owners = 0;
        for (NodeId node : world.members()) owners += owns(world.nodes[node]->values, key);
        REQUIRE(owners <= 1);
    }
}

// Its keepers have the value, unless it was never written, and nobody else has a backup.
inline void check_backups(World &world, Key key, const Node &owner, int64_t value) {
    const std::vector<NodeId> &keepers = owner.protocol.keepers().of(key);
    REQUIRE(keepers.size() == std::min<size_t>(world.backups, world.members().size() - 1));
    for (NodeId node : world.members()) {
        const Copy *copy = world.nodes[node]->protocol.copies().find(key);
        bool keeps = std::find(keepers.begin(), keepers.end(), node) != keepers.end();
        REQUIRE(keeps || !copy);
        REQUIRE(!keeps || (copy ? number_at(*copy) == value : value == 0));
    }
}

// A node says that its keys have their backups. Of one that was loaded it may not have heard yet.
inline void check_secure(const World &world, NodeId self) {
    if (!world.is_safe || world.nodes[self]->crossing.epoch() + 1 < world.epochs.size()) return;
    const std::vector<NodeId> &members = world.members();
    const auto count = [&](auto &&is_such) {
        return size_t(std::count_if(members.begin(), members.end(),
                                    [&](NodeId node) { return node != self && is_such(*world.nodes[node]); }));
    };
    const size_t wanted = std::min<size_t>(world.backups, count([](const Node &node) { return !node.leaves; }));
    for (Key key = 0; key < world.num_keys; key++) {
        if (!owns(world.nodes[self]->values, key) || world.loaded[key]) continue;
        const int64_t written = world.pushes.acknowledged(key);
        if (!written || world.may_be_deleted[key]) continue;
        REQUIRE(count([&](const Node &node) {
                    const Copy *copy = node.protocol.copies().find(key);
                    return copy && (number_at(*copy) & written) == written;
                }) >= wanted);
    }
}

// Once all keys had their copies, each has them until a node is lost, also while nodes leave.
inline void check_copies(World &world) {
    if (!world.is_secure()) return;
    for (NodeId self : world.members()) check_secure(world, self);
}

// What was deleted stays deleted, and is deleted once.
inline void check_deletions(World &world) {
    if (world.backups == 0 || !world.is_safe) return;
    for (Key key = 0; key < world.num_keys; key++) {
        const Node *owner = world.may_be_deleted[key] ? world.owner(key) : nullptr;
        if (!owner) continue;
        const int64_t value = number_at(owner->values, key), written = world.pushes.acknowledged(key);
        REQUIRE((value & world.gone[key]) == 0);
        REQUIRE((value & written & world.lasting[key]) == (written & world.lasting[key]));
    }
}

// A node that leaves has handed over everything.
inline void check_empty(const Node &node) {
    node.values.for_each_here([&](Key key) { REQUIRE(!owns(node.values, key) || !node.values.has_row(key)); });
}

inline void check_value(World &world, Key key) {
    Node *owner = world.owner(key);
    const bool is_unused = !owner && std::any_of(world.members().begin(), world.members().end(), [&](NodeId node) {
        return world.nodes[node]->protocol.is_unborn(key);
    });
    int64_t value = 0;
    if (owner || is_unused) {
        if (owner) value = number_at(owner->values, key);
        trace("key %d is %llx, %llx was acknowledged", int(key), static_cast<long long>(value),
              static_cast<long long>(world.pushes.acknowledged(key)));
        world.pushes.check(key, value, [&](uint64_t worker) {
            return (world.backups > 0 || !world.node_of(worker).out) && !world.may_be_deleted[key];
        });
        REQUIRE(!world.said_lost[key]);
        world.met.keys_rehomed += world.nodes[world.shape.homes().home(key)]->out;
    }
    // A deleted key that began on a lost node does not begin anew after losses that may have taken keys along.
    const bool may_not_begin = !world.is_safe && world.may_be_deleted[key];
    REQUIRE(owner || is_unused || world.may_be_lost[key] || may_not_begin);
    if (owner) check_backups(world, key, *owner, value);
    world.met.keys_lost += !owner && !is_unused;
    for (NodeId node : world.members()) {
        Values &values = world.nodes[node]->values;
        REQUIRE(values.standing(key) != Standing::awaited);
        if (values.standing(key) == Standing::replica) REQUIRE(owner && number_at(values, key) == value);
    }
}

// When nothing is on its way any more.
inline void check_values(World &world) {
    for (NodeId id : world.members()) {
        Node &node = *world.nodes[id];
        REQUIRE(node.crossing.epoch() + 1 == world.epochs.size() && node.crossing.is_settled());
        REQUIRE(node.held.empty());
        REQUIRE(node.protocol.is_quiet());
    }
    for (Worker &worker : world.workers) worker.client->check_idle();
    check_deletions(world);
    for (Key key = 0; key < world.num_keys; key++) check_value(world, key);
}

// When workers have asked for every key, and nobody intends to use one any more.
inline void check_nothing_is_left(World &world) {
    const bool any_asks = std::any_of(world.workers.begin(), world.workers.end(),
                                      [](const Worker &worker) { return !worker.client->is_dead(); });
    for (Key key = 0; key < world.num_keys; key++)
        REQUIRE(!any_asks || (world.owner(key) == nullptr) == world.said_lost[key]);
    for (NodeId node : world.members()) REQUIRE(world.nodes[node]->protocol.remembers_nothing());
}

} // namespace ps::losses
