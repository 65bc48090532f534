#include "membership/membership.h"

#include <algorithm>
#include <limits>

namespace ps {

void Membership::linked(NodeId node) {
    peers_[node].linked = true;
    peers_[node].doubted = false;
    port_.tell(node, alive()); // it answers if this node is no member any more
}

void Membership::unlinked(NodeId node, double now) {
    Peer &peer = peers_[node];
    if (!peer.linked) return;
    peer.linked = false;
    if (peer.standing != Standing::member) return;
    peer.doubted = true;
    peer.since = now;
    port_.probe(node);
}

void Membership::probed(NodeId node, bool refused) {
    if (peers_[node].doubted && refused) declare(node, Evidence::refused, self_);
}

void Membership::left(NodeId node) {
    Peer &peer = peers_[node];
    peer.doubted = false;
    if (peer.standing == Standing::member) peer.standing = Standing::left;
}

void Membership::give_up() { declare(self_, Evidence::failed, self_); }

void Membership::ask() { tell_all(); }

void Membership::receive(NodeId from, const Alive &message) {
    Peer &peer = peers_[from];
    if (peer.standing == Standing::lost) {
        port_.tell(from, Lost{from, peer.evidence});
        return;
    }
    for (NodeId node : message.lost) declare(node, node == from ? Evidence::failed : Evidence::told, from);
}

void Membership::receive(NodeId from, const Lost &message) {
    if (message.node == self_) declare(self_, Evidence::told, from);
}

void Membership::tick(double now) {
    for (NodeId node = 0; node < peers_.size(); node++)
        if (peers_[node].doubted && now - peers_[node].since >= patience_) declare(node, Evidence::silent, self_);
}

double Membership::due() const {
    double due = std::numeric_limits<double>::infinity();
    for (const Peer &peer : peers_)
        if (peer.doubted) due = std::min(due, peer.since + patience_);
    return due;
}

void Membership::declare(NodeId node, Evidence evidence, NodeId by) {
    Peer &peer = peers_[node];
    peer.doubted = false;
    if (peer.standing != Standing::member) return;
    peer.standing = Standing::lost;
    peer.evidence = evidence;
    port_.lost(node, evidence, by);
    if (node != self_ || evidence == Evidence::failed) tell_all();
}

Alive Membership::alive() const {
    Alive message;
    for (NodeId node = 0; node < peers_.size(); node++)
        if (peers_[node].standing == Standing::lost) message.lost.push_back(node);
    return message;
}

void Membership::tell_all() {
    Alive message = alive();
    for (NodeId node = 0; node < peers_.size(); node++)
        if (node != self_ && peers_[node].standing == Standing::member) port_.tell(node, message);
}

} // namespace ps
