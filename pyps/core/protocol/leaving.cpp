// How a node leaves the cluster so that nothing is lost, even if another node is lost at the same time:
//
// 1. It tells all nodes that it leaves. From then on no home moves a key to it.
// 2. It offers its keys to the nodes that stay, and these localize them if they have room.
// 3. Every node replaces it as a keeper of backups, in two steps for each key: first another node gets a backup as
//    well, then the leaver drops its own. A node that begins with the second step tells all that it avoids the leaver.
// 4. When the leaver has no key any more, it tells all that it has handed them over. A node releases it when none of
//    its keys has a backup there, and when all other nodes avoid it: before that, a key could still come whose backup
//    is at the leaver, or an order to hand a key to it.
// 5. When all have released it, it looks for keys again, as some may have been used for the first time meanwhile. If
//    there is none, the leaver is empty: it does nothing for keys any more, and takes part in no other epoch. Requests
//    that still come are dropped, and workers ask again in the next epoch, which is without this node.
// 6. It tells all that it is empty and ends when they have answered, or at once if another epoch begins. A node that
//    has not heard of it takes its end for a loss.
#include <algorithm>
#include <map>

#include "each_key.h"
#include "protocol.h"
#include "step.h"

namespace ps {

void Protocol::leave() {
    is_refused_ = false;
    offered_ = {};
    to_hand_over_.clear();
    if (std::exchange(leaves_, true) || former_) return;
    tell({News::What::leaving});
}

void Protocol::hear(NodeId from, News news) {
    if (backups_ == 0) throw Unexpected("news of backups come, but keys have none");
    switch (news.what) {
    case News::What::settled: settled_[from] = true; break;
    case News::What::secure: secure_[from] = true; break;
    case News::What::leaving: avoid(from); break;
    case News::What::avoids: leavers_.note_avoided(news.about, from); break;
    case News::What::handed_over: leavers_.note_asks(from, true); break;
    case News::What::released: released_[from] = true; break;
    case News::What::emptied:
        leavers_.note_emptied(from);
        if (from != self_) post_.tell(from, {News::What::released});
        break;
    case News::What::full: is_refused_ = true; break;
    }
}

std::vector<NodeId> Protocol::staying() const {
    std::vector<NodeId> nodes;
    for (NodeId node : homes_.rule().members())
        if (!leavers_.has(node)) nodes.push_back(node);
    return nodes;
}

void Protocol::choose_keepers() {
    std::vector<NodeId> leaving;
    leavers_.for_each([&](NodeId node) { leaving.push_back(node); });
    keepers_.choose_among(staying(), std::move(leaving));
}

void Protocol::avoid(NodeId leaver) {
    if (!leavers_.note(leaver)) return;
    offer_again(); // some perhaps were offered to that node
    choose_keepers();
    leave_runs();
    note_lacking();
    send_writes_again();
}

// An owner has asked to move keys to a node that leaves, of which it had not heard.
void Protocol::let_stay(const std::vector<Key> &keys) {
    for (Key key : keys) {
        if (homes_.is_lost(key)) continue;
        const NodeId owner = homes_.owner(key);
        if (owner == self_)
            step(key, [=] { take(key, Relocate{self_}); });
        else
            post_.send(owner, key, Relocate{owner});
    }
}

// Whether a key is to go to that node which has to come here first, or whose backups are on their way.
bool Protocol::has_orders_to(NodeId node) const {
    auto is_order = [&](const Relocate &order) { return order.to == node; };
    auto any = [&](const std::vector<Relocate> &orders) { return std::any_of(orders.begin(), orders.end(), is_order); };
    return arrivals_.any_order(is_order) ||
           std::any_of(writes_.begin(), writes_.end(), [&](const auto &known) { return any(known.second.orders); }) ||
           std::any_of(erasures_.begin(), erasures_.end(), [&](const auto &known) { return any(known.second.next); });
}

// Part of each round, on all nodes.
void Protocol::release_leavers() {
    if (former_ || !leavers_.any() || !lacking_.empty() || !taking_over_.empty() || !parked_.empty()) return;
    if (!keepers_.drops_leaving()) return drop_leavers();
    leavers_.for_each([&](NodeId leaver) {
        if (!leavers_.asks(leaver) || !leavers_.is_avoided_by(leaver, homes_.rule().members())) return;
        if (has_orders_to(leaver)) return;
        leavers_.note_asks(leaver, false);
        if (leaver == self_)
            hear(self_, {News::What::released});
        else
            post_.tell(leaver, {News::What::released});
    });
}

// Part of each round, on a node that leaves.
void Protocol::hand_over() {
    if (is_empty_ || former_ || staying().empty()) return;
    forget_taken();
    const bool may_go = !asks_to_go_ || is_released();
    if (offered_.empty() && to_hand_over_.empty() && may_go)
        values_.for_each_here([&](Key key) {
            if (channel_.has(key) && owns(key)) to_hand_over_.push_back(key);
        });
    if (!offered_.empty() || !to_hand_over_.empty()) {
        asks_to_go_ = false;
        return offer();
    }
    // A key that has come may wait for its latch.
    const bool is_done = arrivals_.empty() && parked_.empty() && writes_.empty() && erasures_.empty();
    if (!is_done) return;
    if (!asks_to_go_) {
        if (!secure_[self_] && !knows_lost_keys_) return;
        asks_to_go_ = true;
        released_.assign(released_.size(), false);
        tell({News::What::handed_over});
    } else if (may_go) {
        is_empty_ = true;
        released_.assign(released_.size(), false);
        released_[self_] = true;
        tell({News::What::emptied});
    }
}

// Keys that go to other nodes from now on have no backup at nodes that leave. A backup is not dropped while a write is
// on its way: the leaver would know of a write that other nodes might never get.
void Protocol::drop_leavers() {
    leave_runs();
    std::vector<Key> busy;
    for (const auto &[key, write] : writes_) busy.push_back(key);
    keepers_.drop_leaving(busy);
    note_lacking();
    for (Key key : busy) lacking_[key] = true;
    leavers_.for_each([&](NodeId leaver) { tell({News::What::avoids, leaver}); });
}

bool Protocol::is_released() const {
    const std::vector<NodeId> &members = homes_.rule().members();
    return std::all_of(members.begin(), members.end(), [&](NodeId node) { return released_[node]; });
}

void Protocol::forget_taken() {
    std::vector<Key> taken;
    offered_.for_each([&](Key key, bool) {
        if (!owns(key)) taken.push_back(key);
    });
    for (Key key : taken) offered_.erase(key);
}

void Protocol::offer_again() {
    offered_.for_each([&](Key key, bool) { to_hand_over_.push_back(key); });
    offered_ = {};
}

// Offers some of the keys. Each goes to the node that will be its home when all that leave have left. Keys that are in
// use here stay, unless this node leaves.
void Protocol::offer() {
    if (to_hand_over_.empty()) return;
    const HomeRule heirs(homes_.rule().places(), staying(), homes_.rule().space());
    std::map<NodeId, Offer> offers;
    for (; !to_hand_over_.empty() && offered_.size() < keys_at_once; to_hand_over_.pop_back()) {
        const Key key = to_hand_over_.back();
        if (!owns(key) || awaits_admission(key) || (!leaves_ && (wanted_.count(key) || masters_.count(key)))) continue;
        const NodeId heir = heirs.home(key);
        if (heir == self_) continue;
        offers[heir].keys.push_back(key);
        offered_[key] = true;
    }
    for (const auto &[node, message] : offers) post_.send(node, message);
}

void Protocol::receive(const Offer &message) {
    if (backups_ == 0) throw Unexpected("keys are offered, but have no backups");
    if (leaves_) return; // the other node will hear of that, and offer them to nodes that stay
    for_each(message.keys, [&](size_t, Key key) {
        step(key, [=] {
            if (owns(key) || arrivals_.count(key)) return;
            expect(key);
            move(key, self_);
        });
    });
}

void Protocol::begin_epoch_of_leavers(const std::vector<NodeId> &members) {
    leavers_.begin_epoch(members);
    asks_to_go_ = false;
    offer_again();
    if (leaves_) to_hand_over_.clear();
}

} // namespace ps
