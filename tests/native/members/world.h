// Nodes that see each other come and go, what is between them, and what they agreed on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "../seeds.h"
#include "../trace.h"
#include "events.h"
#include "membership/membership.h"
#include "protocol/home_rule.h"

namespace ps::members {

constexpr double patience = 0.5, silence = 2.0; // seconds: of a node; until a link that carries nothing breaks

struct World;

inline std::unique_ptr<MembershipPort> make_port(World &world, NodeId self); // port.h

struct Node {
    Node(World &world, NodeId id, NodeId places, std::vector<NodeId> at_first, OnLoss on_loss)
        : id(id), port(make_port(world, id)), membership(id, places, at_first, patience, on_loss, *port),
          members(std::move(at_first)) {}

    void run(const std::function<void()> &what) { // now, or when it is not stopped any more
        if (dead) return;
        if (stopped)
            missed.push_back(what);
        else
            what();
    }

    const NodeId id;
    std::unique_ptr<MembershipPort> port;
    Membership membership;
    bool dead = false, stopped = false, ended = false; // dead: or not started yet
    std::vector<std::function<void()>> missed; // while it was stopped
    uint32_t epoch = 0;
    std::vector<NodeId> members; // or those that it has asked to let it in

    bool is_member() const { return std::count(members.begin(), members.end(), id); }
};

// One node's link to another.
struct Link {
    bool up = true;
    double quiet_since = -1; // nothing comes through; -1: it does
    uint64_t generation = 0; // what was sent over a former one is lost
    double busy_until = 0;   // messages stay in order
};

struct Met {
    long went_on = 0, ended_by_minority = 0, told = 0, joined = 0;

    void operator+=(const Met &other) {
        went_on += other.went_on;
        ended_by_minority += other.ended_by_minority;
        told += other.told;
        joined += other.joined;
    }
};

struct World : Chance, Events {
    const NodeId count; // with those that may join
    const OnLoss on_loss;
    NodeId next_to_join;
    std::vector<std::unique_ptr<Node>> nodes;
    std::map<std::pair<NodeId, NodeId>, Link> links;
    std::map<std::pair<NodeId, NodeId>, bool> cut; // by the lower and the higher
    std::vector<std::pair<NodeId, NodeId>> broken; // connections
    std::map<uint32_t, std::map<std::vector<NodeId>, std::vector<NodeId>>> epochs; // members, for whom it is in force
    Met met;
    long told = 0; // messages about who is missing

    World(uint64_t seed, NodeId at_first, OnLoss on_loss, NodeId joining = 0)
        : Chance(seed), count(NodeId(at_first + joining)), on_loss(on_loss), next_to_join(at_first) {
        for (NodeId id = 0; id < count; id++) {
            nodes.push_back(make_node(id, HomeRule::first_nodes(at_first)));
            nodes[id]->dead = id >= at_first;
        }
        for (NodeId a = 0; a < count; a++)
            for (NodeId b = 0; b < count; b++) {
                if (a == b) continue;
                links[{a, b}].up = a < at_first && b < at_first;
                if (links[{a, b}].up) nodes[a]->membership.linked(b);
            }
    }

    std::unique_ptr<Node> make_node(NodeId id, std::vector<NodeId> at_first) {
        return std::make_unique<Node>(*this, id, count, std::move(at_first), on_loss);
    }

    double draw_seconds(double most) { return std::uniform_real_distribution<double>(0, most)(random); }
    bool is_cut(NodeId a, NodeId b) { return cut[{std::min(a, b), std::max(a, b)}]; }

    void run_until(double end) {
        for (;;) {
            Node *next = nullptr;
            for (auto &node : nodes)
                if (!node->dead && !node->stopped && (!next || node->membership.due() < next->membership.due()))
                    next = node.get();
            double tick = next ? std::max(now, next->membership.due()) : never;
            if (std::min(tick, due()) > end) break;
            if (due() <= tick) {
                run_next();
                continue;
            }
            now = tick;
            next->membership.tick(now);
            REQUIRE(next->membership.due() > now); // it does not ask for the same time for ever
        }
        now = end;
    }

    // When nothing happens any more.
    void check_end() {
        for (auto &node : nodes) {
            if (node->dead || node->ended || !node->is_member()) continue;
            for (NodeId other : node->members) {
                Node &member = *nodes[other];
                REQUIRE(!member.dead && !member.ended);
                REQUIRE(member.membership.epoch() == node->membership.epoch());
                REQUIRE(member.members == node->members);
                for (auto pair : broken) REQUIRE(pair != std::make_pair(node->id, other));
            }
        }
    }

    long alive() const {
        return std::count_if(nodes.begin(), nodes.end(), [](const auto &node) { return !node->dead && !node->ended; });
    }
};

} // namespace ps::members
