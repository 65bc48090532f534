// How nodes are lost, and how the others go from one epoch to the next.
#pragma once

#include <algorithm>

#include "../clients/intents.h"
#include "workers.h"
#include "world.h"

namespace ps::losses {

inline Crossing::Verdict judge(const Crossing &crossing, const Letter &letter) {
    switch (letter.kind) {
    case Kind::crossing: return crossing.judge_crossing(letter.from, letter.epoch);
    case Kind::anytime: return crossing.judge(letter.from, crossing.epoch(), false);
    default: return crossing.judge(letter.from, letter.epoch, letter.kind == Kind::brings_keys);
    }
}

inline void arrive(World &world, Letter letter) {
    Node &node = *world.nodes[letter.to];
    if (node.dead) return;
    switch (judge(node.crossing, letter)) {
    case Crossing::Verdict::take_late: world.met.taken_late++; [[fallthrough]];
    case Crossing::Verdict::take:
        node.protocol.hear_from(letter.from);
        letter.deliver();
        break;
    case Crossing::Verdict::hold: node.held.push_back(std::move(letter)); break;
    case Crossing::Verdict::drop: break;
    }
}

inline bool deliver(World &world) {
    std::deque<Letter> *path = draw_path(world.paths, world);
    if (!path) return false;
    Letter letter = take_first(path);
    if (letter.kind == Kind::not_judged)
        letter.deliver();
    else
        arrive(world, std::move(letter));
    world.flush();
    return true;
}

inline void let_in(World &world, NodeId id) {
    for (Letter &letter : std::exchange(world.nodes[id]->held, {})) arrive(world, std::move(letter));
}

inline void done(World &world, NodeId at, NodeId from) {
    Node &node = *world.nodes[at];
    if (!node.crossing.done(from)) return;
    trace("%d is settled", at);
    node.protocol.settle(world.epochs[node.crossing.epoch()].lost);
    let_in(world, at);
}

inline void mark(World &world, NodeId at, NodeId from) {
    Node &node = *world.nodes[at];
    if (!node.crossing.mark(from)) return;
    node.protocol.report();
    for (NodeId other : world.epochs[node.crossing.epoch()].members)
        if (other != at) world.post(at, other, Kind::crossing, [=, &world](Protocol &) { done(world, other, at); });
    done(world, at, at);
}

// Workers that read replicas at this moment, which are over in the new epoch.
inline void stop_with_replicas(World &world, Node &node) {
    for (Key key = 0; key < world.num_keys; key++)
        if (node.values.standing(key) == Standing::replica && world.draw(3) == 0) (*node.store.stops)[key] = true;
}

inline void adopt(World &world, NodeId id, uint32_t epoch) {
    Node &node = *world.nodes[id];
    if (node.dead || node.out) return;
    if (node.protocol.is_empty()) return node.protocol.go_at_once();
    trace("%d begins epoch %u", id, epoch);
    const std::vector<NodeId> &members = world.epochs[epoch].members;
    world.flush();
    stop_with_replicas(world, node);
    node.crossing.begin(epoch, members);
    node.desk.begin_epoch();
    node.protocol.begin_epoch(members);
    for (NodeId other : members)
        if (other != id) world.post(id, other, Kind::crossing, [=, &world](Protocol &) { mark(world, other, id); });
    let_in(world, id);
    mark(world, id, id);
}

inline void hear(World &world, Worker &worker, uint32_t epoch) {
    worker.client->begin_epoch(epoch, world.epochs[epoch].members, world.epochs[epoch].lost);
    ask_to_erase_again(world, uint64_t(&worker - world.workers.data()));
}

// Its workers do, and give up what they wait for.
inline void hear(World &world, NodeId id, uint32_t epoch) {
    Node &node = *world.nodes[id];
    if (node.dead || node.out) return;
    if (node.heard == 0 && id >= world.shape.nodes) world.hire_workers(id);
    node.heard = epoch;
    for (Worker &worker : world.workers)
        if (worker.node == id && !worker.client->is_dead()) hear(world, worker, epoch);
    world.post_not_judged(hearsay_end, id, [=, &world] { adopt(world, id, epoch); });
}

// A part of what it has sent still arrives.
inline void kill(World &world, NodeId node) {
    world.nodes[node]->dead = true;
    for (auto &[path, letters] : world.paths) {
        int from = path.first;
        for (int first : {first_worker_end, intents_end})
            if (from >= first && size_t(from - first) < world.workers.size())
                from = world.workers[size_t(from - first)].node;
        if (from == node) letters.resize(world.draw(letters.size() + 1));
    }
    world.kill_workers(node);
}

// Its members hear of the last epoch one by one.
inline void tell_epoch(World &world) {
    const auto epoch = uint32_t(world.epochs.size() - 1);
    for (NodeId node : world.members())
        world.post_not_judged(decider_end, node, [=, &world] { hear(world, node, epoch); });
}

inline void go_on_without(World &world, NodeId gone) {
    std::vector<NodeId> members = world.members();
    members.erase(std::find(members.begin(), members.end(), gone));
    world.epochs.push_back({std::move(members), gone});
    world.nodes[gone]->out = true;
    for (Key key = 0; key < world.num_keys; key++)
        if (!world.is_safe && !world.is_at_a_member(key)) world.may_be_lost[key] = true;
    world.note_done_again();
    bool killed = world.draw(2);
    trace("%d is gone, %s", gone, killed ? "killed" : "cut off");
    if (killed) kill(world, gone);
    tell_epoch(world);
}

// Whether no other node stays.
inline bool is_last(World &world, NodeId last) {
    const std::vector<NodeId> &members = world.members();
    return std::all_of(members.begin(), members.end(),
                       [&](NodeId node) { return node == last || world.nodes[node]->leaves; });
}

// Of each key, at nodes that stay. One that leaves may be gone before it hears of a loss.
inline size_t count_copies(const World &world, NodeId lost) {
    const std::vector<NodeId> &members = world.members();
    const auto leaving = std::count_if(members.begin(), members.end(),
                                       [&](NodeId node) { return node != lost && world.nodes[node]->leaves; });
    return std::min<size_t>(world.backups, members.size() - size_t(leaving) - 1);
}

inline void lose(World &world, NodeId lost) {
    if (is_last(world, lost)) return;
    const bool is_secure = world.is_secure();
    world.copies = is_secure ? count_copies(world, lost) : std::min(world.copies, count_copies(world, lost));
    world.lost_at_once = is_secure ? 1 : world.lost_at_once + 1;
    world.is_safe = world.is_safe && size_t(world.lost_at_once) <= world.copies;
    world.met.secure += is_secure;
    go_on_without(world, lost);
}

// If all have heard that it has handed over everything, this is no loss.
inline void depart(World &world, NodeId leaver) {
    const std::vector<NodeId> &members = world.members();
    const bool is_known = std::all_of(members.begin(), members.end(),
                                      [&](NodeId node) { return world.nodes[node]->protocol.knows_empty(leaver); });
    if (!is_known) return lose(world, leaver);
    world.met.departed++;
    go_on_without(world, leaver);
}

// The members, and it, hear of the epoch with it. Each member lets it in once it knows that all keys have backups.
inline void join(World &world) {
    if (world.next_to_join == world.num_nodes || !world.is_secure()) return;
    world.copies = count_copies(world, no_node);
    const NodeId joins = world.next_to_join++;
    world.is_one_to_join = false;
    trace("%d joins", joins);
    world.met.joined++;
    world.nodes[joins]->dead = false;
    std::vector<NodeId> members = world.members();
    members.push_back(joins);
    world.epochs.push_back({std::move(members), world.epochs.back().lost});
    tell_epoch(world);
    world.note_that_matters(world.draw(2) ? joins : world.draw_member());
}

// It stops its intents; false: it has to wait for something else before.
inline bool intends_nothing(World &world, uint64_t number) {
    const std::vector<bool> &intends = world.workers[number].intends;
    for (Key key = 0; key < world.num_keys; key++) clients::intend(world, number, key, false);
    return std::find(intends.begin(), intends.end(), true) == intends.end();
}

// Its workers end before. At least one node stays.
inline void leave(World &world, NodeId leaver) {
    if (world.nodes[leaver]->leaves || is_last(world, leaver)) return;
    for (uint64_t number = 0; number < world.workers.size(); number++)
        if (world.workers[number].node == leaver && !intends_nothing(world, number)) return;
    trace("%d leaves", leaver);
    world.kill_workers(leaver);
    world.nodes[leaver]->leaves = true;
    if (!world.is_secure()) { // some may not know yet of losses before that
        world.copies -= std::min<size_t>(world.copies, 1);
        world.is_safe = world.is_safe && size_t(world.lost_at_once) <= world.copies;
    }
    world.nodes[leaver]->protocol.leave();
}

} // namespace ps::losses
