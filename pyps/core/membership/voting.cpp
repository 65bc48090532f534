// How members agree on the next epoch, by Paxos: see membership.h.
#include <algorithm>
#include <utility>

#include "membership/membership.h"

namespace ps {

void Membership::consider(double now) {
    if (!is_unsettled()) return;
    std::vector<NodeId> set = survivors();
    if (set.empty() || set[0] != self_ || !may_go_on(set)) {
        proposal_.reset();
        return;
    }
    const NodeId joins = set == members() ? joining() : no_node;
    if (!proposal_ || proposal_->set != set || proposal_->joins != joins) propose(std::move(set), joins, now);
}

void Membership::propose(std::vector<NodeId> set, NodeId joins, double now) {
    Proposal proposal;
    proposal.ballot = Ballot{promised_.round + 1, self_};
    proposal.joins = joins;
    proposal.value = set;
    if (joins != no_node)
        proposal.value.insert(std::upper_bound(set.begin(), set.end(), joins) - set.begin() + proposal.value.begin(),
                              joins);
    proposal.set = std::move(set);
    proposal.answered.resize(peers_.size());
    promised_ = proposal.ballot;
    if (accepted_.round) {
        proposal.best = accepted_;
        proposal.value = accepted_members_;
    }
    proposal_ = std::move(proposal);
    retry_ = now + patience_;
    ask_for_answers();
    count_answer(self_);
}

void Membership::ask_for_answers() {
    const Proposal &proposal = *proposal_;
    Vote message = vote(proposal.accepting ? Vote::Phase::accept : Vote::Phase::prepare, proposal.ballot);
    if (proposal.accepting) message.members = proposal.value;
    for (NodeId node : proposal.set)
        if (node != self_ && !proposal.answered[node]) port_.tell(node, message);
}

void Membership::count_answer(NodeId from) {
    Proposal &proposal = *proposal_;
    proposal.answered[from] = true;
    for (NodeId node : proposal.set)
        if (!proposal.answered[node]) return;
    if (!proposal.accepting) {
        vote_for_own();
        return;
    }
    std::vector<NodeId> value = proposal.value;
    uint32_t epoch = epoch_ + 1;
    Vote message{Vote::Phase::decided, epoch, proposal.ballot, {}, value};
    for (NodeId node = 0; node < peers_.size(); node++)
        if (node != self_ && (peers_[node].member || has(value, node))) port_.tell(node, message);
    decide(epoch, value, changed_);
}

void Membership::vote_for_own() {
    Proposal &proposal = *proposal_;
    proposal.accepting = true;
    proposal.answered.assign(peers_.size(), false);
    accepted_ = proposal.ballot;
    accepted_members_ = proposal.value;
    ask_for_answers();
    count_answer(self_);
}

void Membership::receive(NodeId from, const Vote &message, double now) {
    if (ended_ || on_loss_ == OnLoss::fail) return;
    const bool is_unknown = !peers_[from].was_member; // of an epoch in which it has joined
    if (!peers_[from].member && !is_unknown) {
        port_.tell(from, Lost{from, peers_[from].evidence});
        return;
    }
    if (is_unknown && message.phase != Vote::Phase::decided) return port_.tell(from, alive());
    if (message.phase == Vote::Phase::decided) {
        Peer &peer = peers_[from];
        if (message.epoch > epoch_) decide(message.epoch, message.members, now);
        if (message.before == Ballot{asked_, self_} && !peer.missing) peer.out_of_touch = false;
        return;
    }
    if (message.epoch <= epoch_) {
        Vote answer = vote(Vote::Phase::decided, {});
        if (!peers_[from].missing) answer.before = message.before;
        port_.tell(from, answer);
        return;
    }
    if (message.epoch > epoch_ + 1) {
        port_.tell(from, alive());
        return;
    }
    bool mine = proposal_ && message.ballot == proposal_->ballot;
    switch (message.phase) {
    case Vote::Phase::prepare: {
        if (promised_ < message.ballot) {
            promised_ = message.ballot;
            proposal_.reset();
        }
        // If the ballot differs from the one asked for, a higher one was promised before.
        Vote answer = vote(Vote::Phase::promise, promised_);
        answer.before = accepted_;
        if (accepted_.round) answer.members = accepted_members_;
        port_.tell(from, answer);
        break;
    }
    case Vote::Phase::promise:
        if (mine && !proposal_->accepting) {
            if (proposal_->best < message.before) {
                proposal_->best = message.before;
                proposal_->value = message.members;
            }
            count_answer(from);
        } else if (promised_ < message.ballot) { // a higher ballot was promised there: try again with one above that
            promised_ = message.ballot;
            proposal_.reset();
        }
        break;
    case Vote::Phase::accept:
        if (message.ballot < promised_) {
            port_.tell(from, vote(Vote::Phase::promise, promised_));
            break;
        }
        if (proposal_ && !mine) proposal_.reset();
        promised_ = accepted_ = message.ballot;
        accepted_members_ = message.members;
        port_.tell(from, vote(Vote::Phase::accepted, message.ballot));
        break;
    case Vote::Phase::accepted:
        if (mine && proposal_->accepting) count_answer(from);
        break;
    default: break;
    }
}

void Membership::decide(uint32_t epoch, const std::vector<NodeId> &members, double now) {
    if (!has(members, self_) && joins_) return; // the answer to a question of a node that has not joined yet
    if (!has(members, self_)) {
        end(self_, Evidence::told, members.empty() ? self_ : members[0]);
        return;
    }
    for (NodeId node = 0; node < peers_.size(); node++) {
        Peer &peer = peers_[node];
        peer.missed.clear();
        peer.joins = false;
        if ((!peer.member || joins_) && has(members, node)) welcome(node, now);
        if (!peer.member || has(members, node)) continue;
        if (!peer.missing) peer.evidence = Evidence::told;
        peer.member = peer.doubted = peer.broken = false;
    }
    epoch_ = epoch;
    const bool has_joined = std::exchange(joins_, false);
    promised_ = accepted_ = {};
    accepted_members_.clear();
    proposal_.reset();
    changed_ = now;
    port_.begin(epoch, members);
    for (NodeId node : members)
        if (peers_[node].out_of_touch) ask(node);
    if (has_joined || is_unsettled()) { // some may have ended before they heard of a node that has joined
        tell_all();
        consider(now);
    }
}

// A vote with the phase `decided` is about this epoch, all others are about the next one.
Vote Membership::vote(Vote::Phase phase, Ballot ballot) const {
    bool decided = phase == Vote::Phase::decided;
    return {phase, epoch_ + (decided ? 0 : 1), ballot, {}, decided ? members() : std::vector<NodeId>()};
}

} // namespace ps
