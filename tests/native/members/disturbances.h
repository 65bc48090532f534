// What befalls nodes and what is between them.
#pragma once

#include <algorithm>

#include "links.h"
#include "world.h"

namespace ps::members {

inline void see_break(World &world, NodeId a, NodeId b) {
    trace("%7.3f %d sees its connection to %d break", world.now, a, b);
    world.nodes[a]->run([=, &world] { world.nodes[a]->membership.broken(b, world.now); });
}

// One way: that is where messages are lost. Between a member and a node that joins there are none yet.
inline void break_connection(World &world, NodeId a, NodeId b) {
    if (a == b || world.nodes[a]->dead || world.nodes[b]->dead) return;
    if (!world.nodes[a]->is_member() || !has(world.nodes[a]->members, b)) return;
    world.broken.emplace_back(a, b);
    world.after(world.draw_seconds(0.3), [=, &world] { see_break(world, a, b); });
}

inline void kill(World &world, NodeId node) {
    trace("%7.3f %d is killed", world.now, node);
    world.nodes[node]->dead = true;
    look_at_links(world);
    for (NodeId other = 0; other < world.count; other++)
        if (other != node && !world.is_cut(other, node))
            world.after(world.draw_seconds(0.1), [=, &world] { see_break(world, other, node); });
}

inline void go_on(World &world, Node &node) {
    trace("%7.3f %d goes on", world.now, node.id);
    node.stopped = false;
    look_at_links(world);
    node.membership.ask();
    for (auto &what : std::exchange(node.missed, {})) node.run(what);
}

inline void stop(World &world, NodeId id, double seconds) {
    Node &node = *world.nodes[id];
    if (node.dead || node.stopped) return;
    trace("%7.3f %d is stopped", world.now, id);
    node.stopped = true;
    look_at_links(world);
    world.after(seconds, [&world, &node] { go_on(world, node); });
}

inline void cut_pair(World &world, NodeId a, NodeId b, double seconds) {
    if (a == b) return;
    trace("%7.3f cut: %d - %d", world.now, a, b);
    bool &cut = world.cut[{std::min(a, b), std::max(a, b)}];
    cut = true;
    look_at_links(world);
    world.after(seconds, [&world, &cut] {
        cut = false;
        look_at_links(world);
    });
}

inline void set_cut(World &world, uint64_t side, bool value) {
    for (NodeId a = 0; a < world.count; a++)
        for (NodeId b = NodeId(a + 1); b < world.count; b++)
            if ((side >> a & 1) != (side >> b & 1)) world.cut[{a, b}] = value;
    look_at_links(world);
}

inline void split(World &world, uint64_t side, double seconds) { // bits: who is on this side
    trace("%7.3f cut off: %llx", world.now, static_cast<unsigned long long>(side));
    set_cut(world, side, true);
    world.after(seconds, [=, &world] {
        trace("%7.3f healed: %llx", world.now, static_cast<unsigned long long>(side));
        set_cut(world, side, false);
    });
}

// It has been told the members by one that lives.
inline void start_to_join(World &world) {
    if (world.next_to_join == world.count) return;
    const auto sponsor = std::find_if(world.nodes.begin(), world.nodes.end(), [](const auto &node) {
        return !node->dead && !node->ended && node->is_member();
    });
    if (sponsor == world.nodes.end()) return;
    const NodeId id = world.next_to_join++;
    trace("%7.3f %d starts to join", world.now, id);
    world.nodes[id] = world.make_node(id, (*sponsor)->members);
    look_at_links(world);
}

// One of them, at some time.
inline void disturb(World &world) {
    double when = world.draw_seconds(world.draw(2) ? 12.0 : 1.0);
    world.after(when, [&world] {
        auto node = NodeId(world.draw(world.count));
        switch (world.draw(7)) {
        case 0: kill(world, node); break;
        case 1: stop(world, node, world.draw_seconds(8.0)); break;
        case 2: split(world, world.draw(uint64_t(1) << world.count), world.draw_seconds(8.0)); break;
        case 3: cut_pair(world, node, NodeId(world.draw(world.count)), world.draw_seconds(8.0)); break;
        case 4:
        case 5: start_to_join(world); break;
        default: break_connection(world, node, NodeId(world.draw(world.count)));
        }
    });
}

} // namespace ps::members
