#include "membership/membership.h"

#include <algorithm>

namespace ps {

Membership::Membership(NodeId self, NodeId places, const std::vector<NodeId> &members, double patience, OnLoss on_loss,
                       MembershipPort &port)
    : self_(self), patience_(patience), on_loss_(on_loss), port_(port), peers_(places), joins_(!has(members, self)) {
    for (NodeId node : members) peers_[node].member = peers_[node].was_member = true;
}

void Membership::linked(NodeId node) {
    Peer &peer = peers_[node];
    peer.linked = true;
    peer.doubted = false;
    if (peer.was_member && !joins_) port_.tell(node, alive()); // the answer says so if this node is no member any more
    if (peer.out_of_touch) ask(node);
}

void Membership::unlinked(NodeId node, double now) {
    Peer &peer = peers_[node];
    if (!peer.linked) return;
    peer.linked = peer.joins = false;
    if (!peer.member || peer.missing || ended_ || joins_) return;
    peer.doubted = true;
    peer.since = now;
    port_.probe(node);
}

void Membership::probed(NodeId node, bool refused, double now) {
    Peer &peer = peers_[node];
    peer.probe_at = never;
    if (!is_in_question(peer)) return;
    if (!refused) {
        peer.probe_at = now + patience_ / 4; // ask again: a process that is ending does not close everything at once
        return;
    }
    peer.gone = true;
    if (peer.missing)
        consider(now);
    else
        miss(node, Evidence::refused, now);
}

// A process that ends closes its connections as well, so look whether it still runs.
void Membership::broken(NodeId node, double now) {
    Peer &peer = peers_[node];
    if (ended_ || joins_ || !peer.member || peer.missing || peer.broken) return;
    peer.broken = true;
    peer.broken_at = now;
    port_.probe(node);
}

// Whether it would change anything to learn that the node's process has ended.
bool Membership::is_in_question(const Peer &peer) const {
    return !ended_ && peer.member && !peer.gone && (peer.doubted || peer.broken || peer.missing);
}

void Membership::left(NodeId node, double now) {
    peers_[node].gone = true;
    peers_[node].doubted = peers_[node].broken = false;
    if (on_loss_ == OnLoss::go_on && !joins_)
        miss(node, Evidence::left, now);
    else
        peers_[node].member = false;
}

void Membership::give_up() {
    end(self_, Evidence::failed, self_);
    tell_all();
}

void Membership::ask() {
    if (ended_ || joins_) return;
    tell_all();
    if (on_loss_ == OnLoss::fail) return;
    asked_++;
    for (NodeId node : members()) {
        if (node == self_ || peers_[node].gone) continue;
        peers_[node].out_of_touch = true;
        ask(node);
    }
}

// By a proposal for the present epoch, which is answered with the one that is in force.
void Membership::ask(NodeId node) {
    Vote question = vote(Vote::Phase::prepare, {});
    question.epoch = epoch_;
    question.before = {asked_, self_};
    port_.tell(node, question);
}

void Membership::miss(NodeId node, Evidence evidence, double now) {
    Peer &peer = peers_[node];
    peer.doubted = peer.broken = false;
    if (ended_ || !peer.member || peer.missing) return;
    peer.missing = true;
    peer.evidence = evidence;
    if (evidence == Evidence::silent || evidence == Evidence::broken) peer.out_of_touch = true;
    changed_ = now;
    if (on_loss_ == OnLoss::fail) {
        // First, so that it learns the reason before the list of missing nodes.
        if (evidence == Evidence::broken) port_.tell(node, Lost{node, evidence});
        end_all(node, evidence, self_, now);
        return;
    }
    tell_first();
    retry_ = now + patience_;
    consider(now);
}

void Membership::end(NodeId node, Evidence evidence, NodeId by) {
    if (ended_) return;
    ended_ = true;
    proposal_.reset();
    peers_[node].missing = true;
    peers_[node].evidence = evidence;
    if (on_loss_ == OnLoss::go_on) peers_[self_].missing = true; // so that answers to other nodes say so
    port_.end(node, evidence, by);
}

// With OnLoss::fail. The first members tell all others. If none of them is heard of, this one does so after `patience`.
void Membership::end_all(NodeId node, Evidence evidence, NodeId by, double now) {
    end(node, evidence, by);
    if (has(first_members(), self_)) return tell_all();
    tell_first();
    retry_ = now + patience_;
    awaits_news_ = true;
}

void Membership::receive(NodeId from, uint32_t epoch, const Alive &message, double now) {
    Peer &peer = peers_[from];
    if (joins_) {
        peer.joins = true;
        return;
    }
    if (!peer.was_member) { // it may have joined in an epoch of which this node has not heard, which it tells then
        if (epoch > epoch_) port_.tell(from, alive());
        return;
    }
    if (!peer.member || (on_loss_ == OnLoss::fail && ended_ && peer.missing)) {
        port_.tell(from, Lost{from, peer.evidence});
        return;
    }
    if (has(message.missing, from)) {
        peer.gone = true;
        miss(from, Evidence::failed, now);
    }
    if (on_loss_ == OnLoss::fail && !message.missing.empty()) {
        if (!ended_) end_all(message.missing[0], Evidence::told, from, now);
        if (has(first_members(), from)) awaits_news_ = false;
        return;
    }
    if (ended_) {
        if (!has(message.missing, from)) port_.tell(from, alive());
        return;
    }
    if (on_loss_ == OnLoss::fail) return;
    if (epoch < epoch_) {
        port_.tell(from, vote(Vote::Phase::decided, {}));
    } else if (epoch > epoch_) { // the other one answers with the decision that this node has not heard of
        port_.tell(from, alive());
    } else if (message.missing != peer.missed) {
        peer.missed = message.missing;
        changed_ = now;
        consider(now);
    }
}

// With OnLoss::go_on this is only believed of a node in a later epoch: a node that was cut off in a former epoch may
// think that all others are lost.
void Membership::receive(NodeId from, uint32_t epoch, const Lost &message) {
    if (message.node != self_ || (on_loss_ == OnLoss::go_on && epoch <= epoch_)) return;
    if (on_loss_ == OnLoss::fail && message.evidence == Evidence::broken)
        end(from, Evidence::broken, from); // each end of a broken connection names the other one
    else
        end(self_, Evidence::told, from);
}

// The set of members with which this node would go on: those that it does not miss, without members that miss each
// other. Of two members that miss each other, the one that is missed by more others is left out, or the higher one.
std::vector<NodeId> Membership::survivors() const {
    std::vector<NodeId> set;
    for (NodeId node : members())
        if (!peers_[node].missing) set.push_back(node);
    for (;;) {
        const std::vector<size_t> counts = count_conflicts(set);
        size_t worst = 0;
        for (size_t i = 1; i < set.size(); i++)
            if (counts[set[i]] >= counts[set[worst]]) worst = i;
        if (set.empty() || !counts[set[worst]]) return set;
        set.erase(set.begin() + long(worst));
    }
}

// By node: how many others of a set, of which this node misses nobody, it misses or is missed by. This looks only at
// what nodes miss, as most miss none of the set.
std::vector<size_t> Membership::count_conflicts(const std::vector<NodeId> &set) const {
    std::vector<size_t> counts(peers_.size());
    std::vector<bool> is_in(peers_.size());
    for (NodeId node : set) is_in[node] = true;
    for (NodeId one : set) {
        if (one == self_) continue;
        for (NodeId other : peers_[one].missed) {
            const bool is_counted_there = other < one && other != self_ && has(peers_[other].missed, one);
            if (other == one || !is_in[other] || is_counted_there) continue;
            counts[one]++;
            counts[other]++;
        }
    }
    return counts;
}

bool Membership::may_go_on(const std::vector<NodeId> &set) const {
    std::vector<NodeId> all = members();
    const bool may_have_grown = std::any_of(peers_.begin(), peers_.end(),
                                            [](const Peer &peer) { return !peer.was_member; });
    bool others_ended = std::all_of(all.begin(), all.end(), [&](NodeId node) {
        return has(set, node) || (peers_[node].gone && !(may_have_grown && peers_[node].out_of_touch));
    });
    bool half_with_lowest = 2 * set.size() == all.size() && !all.empty() && has(set, all[0]);
    return others_ended || 2 * set.size() > all.size() || half_with_lowest;
}

bool Membership::is_unsettled() const {
    if (ended_ || joins_ || on_loss_ == OnLoss::fail) return false;
    return survivors().size() < members().size() || joining() != no_node;
}

void Membership::tick(double now) {
    if (awaits_news_ && now >= retry_) {
        awaits_news_ = false;
        tell_all();
    }
    if (joins_ && !ended_ && now >= retry_) {
        retry_ = now + patience_ / 4;
        ask_to_join();
    }
    for (NodeId node = 0; node < peers_.size(); node++) {
        Peer &peer = peers_[node];
        if (peer.doubted && now >= peer.since + patience_) miss(node, Evidence::silent, now);
        if (peer.broken && now >= peer.broken_at + patience_) miss(node, Evidence::broken, now);
        if (peer.probe_at > now) continue;
        peer.probe_at = never;
        if (is_in_question(peer)) port_.probe(node);
    }
    if (!is_unsettled()) return;
    if (now >= retry_) {
        retry_ = now + patience_;
        tell_all();
        if (proposal_) ask_for_answers();
        consider(now);
    }
    std::vector<NodeId> set = survivors();
    if (!is_unsettled() || now < changed_ + patience_ || may_go_on(set)) return;
    for (NodeId node : members()) {
        if (has(set, node)) continue;
        end(node, Evidence::minority, self_);
        tell_all();
        return;
    }
}

double Membership::due() const {
    double due = awaits_news_ ? retry_ : never;
    for (const Peer &peer : peers_) {
        if (peer.doubted) due = std::min(due, peer.since + patience_);
        if (peer.broken) due = std::min(due, peer.broken_at + patience_);
        due = std::min(due, peer.probe_at);
    }
    if (joins_ && !ended_) return std::min(due, retry_);
    if (!is_unsettled()) return due;
    return std::min(due, may_go_on(survivors()) ? retry_ : std::min(retry_, changed_ + patience_));
}

std::vector<NodeId> Membership::members() const {
    std::vector<NodeId> nodes;
    for (NodeId node = 0; node < peers_.size(); node++)
        if (peers_[node].member) nodes.push_back(node);
    return nodes;
}

Alive Membership::alive() const {
    Alive message;
    for (NodeId node = 0; node < peers_.size(); node++)
        if (peers_[node].missing && (peers_[node].member || on_loss_ == OnLoss::fail)) message.missing.push_back(node);
    return message;
}

// So many that hardly all of them are lost at once, and so few that the messages of all nodes about a loss grow as
// n log n.
std::vector<NodeId> Membership::first_members() const {
    std::vector<NodeId> nodes = members();
    size_t count = 1;
    for (size_t rest = nodes.size(); rest > 0; rest /= 2) count++;
    nodes.resize(std::min(nodes.size(), count));
    return nodes;
}

// Who proposes the next epoch is among them, unless so many are lost that all are told after `patience`.
void Membership::tell_first() {
    const Alive message = alive();
    for (NodeId node : first_members())
        if (node != self_) port_.tell(node, message);
}

void Membership::tell_all() {
    Alive message = alive();
    for (NodeId node : members())
        if (node != self_) port_.tell(node, message); // also to nodes that are missing: they may come back
}

} // namespace ps
