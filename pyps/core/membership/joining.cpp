// How a node joins: it asks the members, and these let it in.
#include <algorithm>

#include "membership/membership.h"

namespace ps {

void Membership::receive(NodeId from, const Join &message, double now) {
    Peer &peer = peers_[from];
    if (ended_ || joins_ || on_loss_ == OnLoss::fail) return;
    if (peer.member) return port_.tell(from, vote(Vote::Phase::decided, {})); // it has not heard of it
    if (peer.was_member) return port_.tell(from, Lost{from, peer.evidence});
    peer.joins = true;
    peer.welcomed_by = message.welcomed_by;
    if (peer.linked && port_.may_join()) port_.tell(from, alive());
    if (!is_welcomed(peer)) port_.tell(from, Introduction{members()});
    consider(now);
}

bool Membership::is_welcomed(const Peer &peer) const {
    const std::vector<NodeId> all = members();
    return std::includes(peer.welcomed_by.begin(), peer.welcomed_by.end(), all.begin(), all.end());
}

// Others may have joined or been lost since this node was told the members.
void Membership::receive(uint32_t epoch, const Introduction &message) {
    if (!joins_ || epoch < introduced_) return;
    introduced_ = epoch;
    for (NodeId node = 0; node < peers_.size(); node++)
        peers_[node].member = peers_[node].was_member = has(message.members, node);
}

// Asks all members to let this node in.
void Membership::ask_to_join() {
    Join message;
    for (NodeId node = 0; node < peers_.size(); node++)
        if (peers_[node].joins) message.welcomed_by.push_back(node);
    for (NodeId node : members()) port_.tell(node, message);
}

// The node that joins next, if all members have welcomed one.
NodeId Membership::joining() const {
    for (NodeId node = 0; node < peers_.size(); node++)
        if (peers_[node].joins && peers_[node].linked && is_welcomed(peers_[node])) return node;
    return no_node;
}

// A node is a member from now on. If its link broke before, nobody minded.
void Membership::welcome(NodeId node, double now) {
    Peer &peer = peers_[node];
    peer.member = peer.was_member = true;
    if (node == self_ || peer.linked) return;
    peer.doubted = true;
    peer.since = now;
    port_.probe(node);
}

} // namespace ps
