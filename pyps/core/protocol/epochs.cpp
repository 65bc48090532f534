// What happens to keys when nodes are lost. The members first agree who they are. When each of them has received
// everything that the others sent before, each key is at one member or at none. Then the owners report their keys to
// the homes, which are new nodes for the keys of a lost home. A key that no owner reports is lost.
//
// A replica never takes a lost value's place: it may lack pushes of other nodes that were already acknowledged.
#include <algorithm>

#include "protocol.h"
#include "step.h"

namespace ps {

void Protocol::forget_outsiders(std::vector<Replica> *replicas) const {
    if (backups_) return replicas->clear(); // all of them end: see forget_replicas
    replicas->erase(std::remove_if(replicas->begin(), replicas->end(),
                                   [&](const Replica &replica) { return !homes_.rule().is_member(replica.node); }),
                    replicas->end());
    for (Replica &replica : *replicas) replica.due = true;
}

// A node keeps the deltas that are on their way and sends them again in the new epoch, so no node waits for a message
// of a former one.
void Protocol::begin_epoch(const std::vector<NodeId> &members) {
    // Else the last epoch was not settled: keep the homes of the one before.
    if (!former_) former_.emplace(std::move(homes_));
    if (epoch_ == 0 && !former_->rule().is_member(self_)) join(members);
    homes_ = Homes(*former_, members);
    first_.begin_epoch(homes_.rule());
    epoch_++;
    std::vector<Key> awaited = parked_.keys();
    parked_.keep_what_brings_keys();
    arrivals_.for_each_key([&](Key key) { awaited.push_back(key); });
    arrivals_.clear();
    asked_ = {};
    for (Key key : awaited) step(key, [=] { forget_awaited(key); });
    erasures_.clear();
    for (auto &[key, held] : replicas_) {
        held.queue.clear();
        held.recalled = false;
    }
    for (auto &[key, master] : masters_) {
        master.promised = no_node;
        master.ghosts.clear();
        forget_outsiders(&master.replicas);
    }
    if (backups_) begin_epoch_of_backups(members);
}

void Protocol::forget_awaited(Key key) {
    bool awaited = arrivals_.count(key) || replicas_.count(key);
    if (!awaited && values_.standing(key) == Standing::awaited) values_.forget(key);
}

void Protocol::take_late(Key key, Transfer message) {
    if (owns(key)) throw Unexpected("a key comes that is here");
    message.ghosts.clear();
    forget_outsiders(&message.replicas);
    take_in(key, std::move(message));
    auto found = masters_.find(key);
    if (found != masters_.end()) found->second.ghosts.clear();
}

void Protocol::report() {
    auto report = [&](Key key, const Holds &message) {
        if (homes_.is_here(key))
            receive(key, message);
        else
            post_.send(homes_.home(key), key, message);
    };
    values_.for_each_here([&](Key key) {
        if (channel_.has(key) && (owns(key) || parked_.brings(key))) report(key, Holds{self_});
    });
    for (Key key : parked_.keys())
        if (parked_.brings(key) && !owns(key)) report(key, Holds{self_});
    former_->for_each([&](Key key) {
        if (former_->is_lost(key)) report(key, Holds{former_->lost_with(key), true});
    });
    claim(report);
}

void Protocol::receive(Key key, const Holds &message) {
    if (!homes_.is_here(key)) throw Unexpected("a key is reported to a node that is not its home");
    if (message.backup) {
        if (backups_ == 0) throw Unexpected("a backup is reported, but keys have none");
        claims_[key].push_back(message);
        return;
    }
    bool has_owner = !homes_.is_unknown(key) && !homes_.is_lost(key);
    // Where keys may be any numbers, the home knows the owner of a key that never moved without a report.
    bool is_known = has_owner && homes_.owner(key) == message.node;
    if (!message.lost && has_owner && !is_known) throw Unexpected("a key has two owners");
    if (!message.lost && !is_known)
        homes_.move(key, message.node);
    else if (!has_owner)
        lose(key, message.node);
}

void Protocol::lose(Key key, NodeId with) {
    homes_.lose(key, with);
    knows_lost_keys_ = true;
}

void Protocol::settle(NodeId lost) {
    const HomeRule &rule = homes_.rule();
    homes_.name_lost(lost);
    std::vector<Key> missing;
    homes_.for_each([&](Key key) {
        if (homes_.is_unknown(key)) missing.push_back(key);
    });
    find_unlisted(&missing);
    for (Key key : missing) {
        if (find_again(key)) continue;
        bool known = former_->is_here(key) && !former_->is_unknown(key) && !former_->is_lost(key);
        NodeId owner = known ? former_->owner(key) : first_.of(key);
        lose(key, rule.is_member(owner) ? lost : owner);
    }
    if (backups_) note_moved_homes();
    former_.reset();
    if (backups_) settle_backups();
    std::vector<Key> keys;
    if (!backups_) // else all replicas have ended
        for (auto &[key, held] : replicas_) keys.push_back(key);
    for (Key key : keys) step(key, [=] { send_again(key); });
    // Keys owned here may have fewer replicas now; those that are left must get the value again.
    for (auto &[key, master] : masters_) list(key, master);
    keys.clear();
    wanted_.for_each([&](Key key, bool) { keys.push_back(key); });
    want(keys);
}

// Sends a replica's delta again if one was on its way, else an empty one. The owner answers it, or the home, if the key
// is lost.
void Protocol::send_again(Key key) {
    auto found = replicas_.find(key);
    if (found == replicas_.end()) return; // the key itself came
    Held &held = found->second;
    if (!held.on_its_way) held.delta.clear();
    held.on_its_way = true;
    note_travelling(key);
    // No intent needs the replica any more, but its end may not have been asked for: the key itself was to come here.
    if (!wanted_.count(key)) held.ending = true;
    held.owner = homes_.home(key);
    take(key, Delta{self_, held.number, held.sent, held.ended, held.delta}, not_from_home);
}

void Protocol::send_gone(NodeId to, Key key) {
    Gone message{homes_.lost_with(key)};
    if (to == self_)
        take(key, message);
    else
        post_.send(to, key, message);
}

void Protocol::take(Key key, const Gone &message) {
    if (owns(key)) throw Unexpected("a key is lost that is here");
    if (message.with == not_admitted) return leave_at_home(key);
    // no_room answers a Localize only: a Want that is on its way gets an answer of its own.
    if (message.with != no_room) asked_.erase(key);
    std::vector<Request> requests;
    auto found = replicas_.find(key);
    if (found != replicas_.end()) {
        requests = std::move(found->second.queue);
        replicas_.erase(found);
        Bytes added;
        if (values_.standing(key) == Standing::replica) values_.retire(key, &added);
    }
    Arrival arrival;
    if (arrivals_.count(key)) arrival = arrivals_.extract(key);
    if (values_.standing(key) == Standing::awaited) values_.forget(key);
    for (uint64_t waiter : arrival.waiters) post_.gone(waiter, key, message.with);
    for (const Request &request : requests) post_.refuse(request.origin, key, message.with);
    for (const Request &request : arrival.late) post_.refuse(request.origin, key, message.with);
    for (Waiting &waiting : arrival.queue) {
        if (auto *request = std::get_if<Request>(&waiting)) post_.refuse(request->origin, key, message.with);
        if (auto *want = std::get_if<Want>(&waiting)) {
            if (want->node == self_)
                asked_.erase(key);
            else
                post_.send(want->node, key, message);
        }
        if (auto *delta = std::get_if<Delta>(&waiting))
            if (delta->node != self_) post_.send(delta->node, key, message);
    }
}

} // namespace ps
