// The links between nodes, and what they tell each other over them.
#pragma once

#include <algorithm>

#include "world.h"

namespace ps::members {

inline bool passes(World &world, NodeId a, NodeId b) {
    for (NodeId node : {a, b})
        if (world.nodes[node]->dead || world.nodes[node]->stopped) return false;
    return !world.is_cut(a, b);
}

inline void look_at_links(World &world);

inline void sever(World &world, NodeId a, NodeId b) {
    Link &link = world.links[{a, b}];
    if (!link.up || world.nodes[a]->dead) return;
    link.up = false;
    link.generation++;
    trace("%7.3f %d sees its link to %d break", world.now, a, b);
    world.nodes[a]->run([=, &world] { world.nodes[a]->membership.unlinked(b, world.now); });
    world.after(0, [&world] { look_at_links(world); });
}

inline void restore(World &world, NodeId a, NodeId b) {
    Link &link = world.links[{a, b}];
    if (link.up || !passes(world, a, b)) return;
    link.up = true;
    trace("%7.3f %d has its link to %d again", world.now, a, b);
    world.nodes[a]->run([=, &world] { world.nodes[a]->membership.linked(b); });
}

inline void look_at_link(World &world, NodeId a, NodeId b) {
    Link &link = world.links[{a, b}];
    if (passes(world, a, b)) {
        link.quiet_since = -1;
        if (!link.up) world.after(world.draw_seconds(0.3), [=, &world] { restore(world, a, b); });
    } else if (link.up && world.nodes[b]->dead && !world.is_cut(a, b)) {
        world.after(world.draw_seconds(0.1), [=, &world] { sever(world, a, b); });
    } else if (link.up && link.quiet_since < 0) {
        double since = link.quiet_since = world.now;
        world.after(silence + world.draw_seconds(patience), [=, &world, &link] {
            if (link.quiet_since == since) sever(world, a, b);
        });
    }
}

// After every change: links go quiet, break, come back.
inline void look_at_links(World &world) {
    for (NodeId a = 0; a < world.count; a++)
        for (NodeId b = 0; b < world.count; b++)
            if (a != b && !world.nodes[a]->dead) look_at_link(world, a, b);
}

inline void travel(World &world, NodeId from, NodeId to, double seconds, std::function<void()> deliver) {
    uint64_t generation = world.links[{from, to}].generation;
    world.after(seconds, [=, &world] {
        if (world.nodes[to]->dead || world.links[{from, to}].generation != generation) return;
        if (world.is_cut(from, to)) return travel(world, from, to, 0.05, deliver);
        world.nodes[to]->run(deliver);
    });
}

// A message goes over the sender's link; while nothing passes it waits, and is lost when the link breaks.
inline void send(World &world, NodeId from, NodeId to, std::function<void()> deliver) {
    Link &link = world.links[{from, to}];
    if (!link.up) return;
    link.busy_until = std::max(world.now + world.draw_seconds(world.draw(10) ? 0.01 : 0.4), link.busy_until);
    travel(world, from, to, link.busy_until - world.now, std::move(deliver));
}

} // namespace ps::members
