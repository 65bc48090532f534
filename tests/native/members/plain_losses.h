// One disturbance, and who must go on.
#pragma once

#include <cmath>

#include "disturbances.h"
#include "port.h"
#include "world.h"

namespace ps::members {

// Each way, or only one: one of the two goes, or with OnLoss::fail everybody ends.
inline void check_broken_connection(NodeId count, NodeId a, NodeId b, bool both, OnLoss on_loss) {
    World world(uint64_t(a * count + b + 1), count, on_loss);
    break_connection(world, a, b);
    if (both) break_connection(world, b, a);
    world.run_until(5.0);
    world.check_end();
    REQUIRE(world.alive() == (on_loss == OnLoss::fail ? 0 : count - 1));
    if (on_loss == OnLoss::go_on) REQUIRE(world.nodes[a]->ended != world.nodes[b]->ended);
}

// The only member is killed when it has let another one in, which may hear of that later than of the kill.
inline void check_killed_after_a_join(uint64_t seed) {
    World world(seed, 1, OnLoss::go_on, 1);
    start_to_join(world);
    while (world.epochs.empty()) world.run_until(world.now + 0.01);
    kill(world, 0);
    world.run_until(world.now + 10.0);
    world.check_end();
}

// While one of two is stopped, the other one goes on, lets a third one in, and is killed: so not all others have ended.
inline void check_replaced_while_stopped(uint64_t seed) {
    World world(seed, 2, OnLoss::go_on, 1);
    stop(world, 1, 8.0);
    world.run_until(4.0);
    start_to_join(world);
    world.run_until(7.0);
    REQUIRE(world.nodes[2]->epoch == 2);
    kill(world, 0);
    world.run_until(20.0);
    world.check_end();
    REQUIRE(world.nodes[1]->ended && !world.nodes[2]->ended);
}

// But if nobody has joined, it goes on, also one that was stopped for a while before.
inline void check_left_alone(double stopped) {
    World world(1, 2, OnLoss::go_on, 1);
    stop(world, 1, stopped);
    world.run_until(4.0);
    kill(world, 0);
    world.run_until(20.0);
    world.check_end();
    REQUIRE(world.alive() == 1);
}

// With OnLoss::fail all end at once. They tell the first ones, which tell all, and then they are silent.
inline void check_few_messages(NodeId count, void (*lose)(World &)) {
    World world(count, count, OnLoss::fail);
    world.run_until(1.0);
    world.told = 0;
    lose(world);
    world.run_until(3.0);
    REQUIRE(world.alive() == 0);
    REQUIRE(world.told < 3 * count * (2 + long(std::log2(count))));
    world.told = 0;
    world.run_until(60.0);
    REQUIRE(world.told == 0);
}

// Those that are to tell all others cannot, but others will not wait for them.
inline void check_first_stopped(NodeId count, NodeId first) {
    World world(count, count, OnLoss::fail);
    world.run_until(1.0);
    for (NodeId node = 0; node < first; node++) stop(world, node, 1.9);
    break_connection(world, NodeId(count - 2), NodeId(count - 1));
    world.run_until(2.8);
    REQUIRE(world.alive() == first);
    world.run_until(5.0);
    REQUIRE(world.alive() == 0);
}

inline void check_all_end() {
    for (NodeId count : {40, 80}) {
        check_few_messages(count, [](World &world) { kill(world, NodeId(world.count - 1)); });
        check_few_messages(count, [](World &world) { break_connection(world, 20, 30); });
        check_few_messages(count, [](World &world) { world.nodes[30]->membership.give_up(); });
    }
    check_first_stopped(40, 8);
}

inline void check_killed(NodeId count, NodeId victim) {
    World world(victim + 1, count, OnLoss::go_on);
    kill(world, victim);
    world.run_until(20.0);
    world.check_end();
    REQUIRE(world.alive() == count - 1);
}

inline void check_stopped(NodeId count, NodeId victim) {
    World world(victim + 1, count, OnLoss::go_on);
    stop(world, victim, 6.0);
    world.run_until(20.0);
    world.check_end();
    bool others_may = 2 * (count - 1) > count || victim != 0;
    REQUIRE(world.alive() == count - 1); // of two the one with the lowest, when it goes on
    REQUIRE(world.nodes[victim]->ended == others_may);
}

inline void check_stopped_briefly() {
    World world(1, 4, OnLoss::go_on);
    stop(world, 2, 1.5);
    world.run_until(20.0);
    REQUIRE(world.alive() == 4 && world.epochs.empty());
}

inline void check_split(NodeId count, uint64_t side) {
    World world(side, count, OnLoss::go_on);
    split(world, side, 10.0);
    world.run_until(30.0);
    world.check_end();
    auto here = NodeId(__builtin_popcountll(side));
    bool this_side = 2 * here > count || (2 * here == count && side & 1);
    for (NodeId node = 0; node < count; node++) REQUIRE(world.nodes[node]->ended != ((side >> node & 1) == this_side));
}

// One after another, without losses.
inline void check_joined(NodeId count) {
    World world(count, count, OnLoss::go_on, 3);
    for (NodeId joined = 1; joined <= 3; joined++) {
        start_to_join(world);
        world.run_until(world.now + 10.0);
        world.check_end();
        for (NodeId node = 0; node < count + joined; node++)
            REQUIRE(world.nodes[node]->members == HomeRule::first_nodes(NodeId(count + joined)));
    }
}

// Three at once, who ask the first ones.
inline void check_joined_at_once(NodeId count) {
    World world(count, count, OnLoss::go_on, 3);
    for (int joins = 0; joins < 3; joins++) start_to_join(world);
    world.run_until(world.now + 30.0);
    world.check_end();
    for (const auto &node : world.nodes) REQUIRE(node->members == HomeRule::first_nodes(NodeId(count + 3)));
}

inline void check_plain_losses() {
    check_joined(1);
    check_joined_at_once(1);
    for (NodeId count = 2; count <= 5; count++) {
        check_joined(count);
        check_joined_at_once(count);
        for (NodeId a = 0; a < count; a++)
            for (NodeId b = 0; b < count; b++)
                for (bool both : {false, true})
                    for (OnLoss on_loss : {OnLoss::go_on, OnLoss::fail})
                        if (a != b) check_broken_connection(count, a, b, both, on_loss);
        for (NodeId victim = 0; victim < count; victim++) {
            check_killed(count, victim);
            check_stopped(count, victim);
        }
        for (uint64_t side = 1; side + 1 < uint64_t(1) << count; side++) check_split(count, side);
    }
    check_stopped_briefly();
    check_all_end();
    for (uint64_t seed = 0; seed < 500; seed++) check_killed_after_a_join(seed);
    for (uint64_t seed = 0; seed < 20; seed++) check_replaced_while_stopped(seed);
    for (double stopped : {0.0, 1.0, 1.9}) check_left_alone(stopped);
}

} // namespace ps::members
