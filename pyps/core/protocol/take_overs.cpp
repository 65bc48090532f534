// Backups when nodes are lost. The keeper with the newest backup of a key takes it over, once the other keepers are as
// new as that: otherwise a second loss could take back what had been read. Then keys get new backups where keepers were
// lost.
#include <algorithm>
#include <utility>

#include "protocol.h"
#include "step.h"

namespace ps {

// A new epoch (see epochs.cpp). Workers ask again for what was not answered, and what a home has ordered is over.
void Protocol::begin_epoch_of_backups(const std::vector<NodeId> &members) {
    note_lost();
    forget_replicas();
    begin_epoch_of_leavers(members);
    choose_keepers();
    recent_.forget_all_but(members);
    leave_runs();
    runs_.clear();
    claims_.clear();
    for (const auto &[key, taking] : std::exchange(taking_over_, {})) keepers_.forget(key);
    to_take_over_.clear();
    taken_on_their_way_ = 0;
    forget_erasures();
    for (auto &[key, write] : writes_) {
        for (auto *requests : {&write.written, &write.next})
            for (Write::Request &request : *requests) request.is_asked = false;
        write.orders.clear();
        write.later.clear();
    }
}

// Other nodes may have replicas of these keys again. Some keepers may have erased their backups.
void Protocol::forget_erasures() {
    for (auto next = writes_.begin(); next != writes_.end();) {
        auto here = next++;
        if (!here->second.erases) continue;
        lacking_[here->first] = true;
        writes_.erase(here);
    }
}

// All replicas end, and those that are wanted are asked for again: a new owner would not know of them, and would answer
// a write that it has from a backup before they have its value. They have nothing that the owner lacks. Where a worker
// has stopped with a key's latch, others must not read its replica until it goes on.
void Protocol::forget_replicas() {
    std::vector<Key> keys;
    for (const auto &[key, held] : replicas_) keys.push_back(key);
    for (Key key : keys) {
        if (values_.standing(key) == Standing::replica) values_.close(key);
        step(key, [=] { forget_replica(key); });
    }
}

void Protocol::forget_replica(Key key) {
    replicas_.erase(key);
    Bytes nothing;
    if (values_.standing(key) == Standing::closed) values_.retire(key, &nothing);
    forget_awaited(key);
}

// Those that were lost since the last epoch that was settled. Each key that was ever written has a backup left, or its
// owner, if no more were lost than there were backups: since all keys had theirs, or of the lost nodes' keys, if these
// had theirs.
void Protocol::note_lost() {
    const HomeRule &former = former_->rule(), &rule = homes_.rule();
    bool were_all_secure = true, were_lost_secure = true;
    size_t lost = 0, kept = 0; // kept: nodes that had keys or backups, of which those that leave may have none any more
    for (NodeId node : former.members()) {
        were_all_secure = were_all_secure && secure_[node];
        since_settled_[node] = true;
        kept += !leavers_.has_emptied(node) && (!leavers_.has(node) || !rule.is_member(node));
    }
    for (NodeId node = 0; node < rule.places(); node++) {
        if (!since_settled_[node] || rule.is_member(node)) continue;
        lost += !leavers_.has_emptied(node);
        were_lost_secure = were_lost_secure && secure_[node];
    }
    for (NodeId node : rule.members()) since_settled_[node] = true; // also one that has joined
    if (were_all_secure) most_lost_ = std::min<size_t>(backups_, former.members().size() - 1);
    lost_at_once_ = lost + (were_all_secure ? 0 : lost_before_);
    const size_t others = kept > 0 ? kept - 1 : 0;
    were_secure_ = lost_at_once_ <= std::min(most_lost_, others) ||
                   (were_lost_secure && lost <= std::min<size_t>(backups_, others));
}

void Protocol::claim(const std::function<void(Key, const Holds &)> &report) const {
    copies_.for_each([&](Key key, const Copy &copy) { report(key, Holds{self_, false, copy.version}); });
}

// Where keys may be any numbers, a home has no entry for a key that never moved.
void Protocol::find_unlisted(std::vector<Key> *keys) const {
    for (const auto &[key, claims] : claims_)
        if (homes_.is_lost(key) && !homes_.has_entry(key)) keys->push_back(key);
}

// As where it began, at its first use.
void Protocol::bear(Key key) {
    homes_.move(key, self_);
    make(key);
}

void Protocol::make(Key key) { take_in(key, Transfer{0, {}, {}, values_.first_whole(key), 0, keepers_.usual()}); }

// A key that no node has, whose home is here: it goes on from its newest backup. If no backup can have been lost, a key
// without one was never written.
bool Protocol::find_again(Key key) {
    auto found = claims_.find(key);
    if (found == claims_.end()) {
        if (backups_ == 0 || !were_secure_) return false;
        homes_.move(key, self_);
        step(key, [=] { make(key); });
        return true;
    }
    std::vector<Holds> &claims = found->second;
    auto newest = std::max_element(claims.begin(), claims.end(),
                                   [](const Holds &a, const Holds &b) { return a.backup < b.backup; });
    const NodeId node = newest->node;
    claims.erase(newest);
    TakeOver message;
    for (const Holds &other : claims) message.keepers.push_back(other.node);
    homes_.move(key, node);
    if (node == self_)
        receive(key, message);
    else
        post_.send(node, key, message);
    return true;
}

void Protocol::receive(Key key, const TakeOver &message) {
    taking_over_[key] = {};
    step(key, [=] { take(key, message); });
}

void Protocol::take(Key key, const TakeOver &message) {
    const Copy *copy = copies_.find(key);
    if (owns(key) || !copy) {
        taking_over_.erase(key);
        throw Unexpected("a key is to be taken over without a backup");
    }
    expect(key);
    keepers_.put(key, message.keepers);
    taking_over_[key] = {0, keepers_.of(key), keepers_.of(key)};
    if (keepers_.of(key).empty()) return go_on_from_backup(key); // no other node is left
    to_take_over_.push_back(key);
    send_taken_over();
}

// Not those of all keys at once, which may be as many as a node had.
void Protocol::send_taken_over() {
    for (; !to_take_over_.empty() && taken_on_their_way_ < keys_at_once; to_take_over_.pop_front()) {
        const Key key = to_take_over_.front();
        const char *whole = copies_.find(key)->whole.get();
        Backup backup{self_, ++last_version_, recent_.of(key), Bytes(whole, whole + values_.whole_bytes(key))};
        copies_.note_version(key, backup.version);
        taking_over_[key].version = backup.version;
        taken_on_their_way_++;
        for (NodeId keeper : taking_over_[key].missing) post_.send(keeper, key, backup);
    }
}

void Protocol::go_on_from_backup(Key key) {
    const auto found = taking_over_.find(key);
    if (found->second.version > 0) taken_on_their_way_--;
    const std::vector<NodeId> keepers = std::move(found->second.keepers);
    taking_over_.erase(found);
    send_taken_over();
    const Copy *copy = copies_.find(key);
    const char *whole = copy->whole.get();
    take_in(key, Transfer{0, {}, {}, Bytes(whole, whole + values_.whole_bytes(key)), copy->version, keepers});
}

// Keys get new backups where keepers were lost.
void Protocol::settle_backups() {
    claims_.clear();
    is_whole_ = is_whole_ && were_secure_;
    lost_before_ = lost_at_once_;
    since_settled_.assign(since_settled_.size(), false);
    if (!is_whole_ && !homes_.rule().space().is_range()) knows_lost_keys_ = true;
    settled_.assign(settled_.size(), false);
    secure_.assign(secure_.size(), false);
    note_lacking();
    send_writes_again();
    tell({News::What::settled});
    if (leaves_) tell({News::What::leaving});
}

// Which keys have keepers that have no backup.
void Protocol::note_lacking() {
    values_.for_each_here([&](Key key) {
        if (channel_.has(key) && owns(key) && keepers_.has_new(key)) lacking_[key] = true;
    });
    keepers_.settle();
    next_lacking_.clear();
    lacking_.for_each([&](Key key, bool) { next_lacking_.push_back(key); });
}

// What is on its way goes to those that are the keepers now. It has another version: the key stays here until they have
// answered that, and not what was sent before.
void Protocol::send_writes_again() {
    std::vector<std::pair<Key, uint64_t>> versions;
    for (auto &[key, write] : writes_) {
        write.is_on_its_way = true;
        write.version = ++last_version_;
        versions.emplace_back(key, write.version);
    }
    for (auto [key, version] : versions)
        step(key, [this, key = key, version = version] {
            auto found = writes_.find(key);
            if (found != writes_.end() && found->second.version == version) send_to_keepers(key, found->second);
        });
}

} // namespace ps
