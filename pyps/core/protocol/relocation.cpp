// How a key moves: the node that wants it tells the home, the home tells the owner, and the owner hands it over.
#include <algorithm>

#include "protocol.h"

namespace ps {

void Protocol::localize_key(Key key, uint64_t waiter) {
    if (owns(key)) {
        post_.landed(waiter, key);
        return;
    }
    if (leaves_) { // its workers have ended, and no home would move the key here
        post_.gone(waiter, key, no_room);
        return;
    }
    bool asked = arrivals_.count(key); // it is on its way already, perhaps for another reason
    expect(key).waiters.push_back(waiter);
    if (!asked) move(key, self_);
}

// As a long intent pays for what a move costs, also on many nodes.
void Protocol::bring_here(Key key) {
    if (owns(key) || arrivals_.count(key) || leaves_) return;
    expect(key);
    move(key, self_);
}

// Ask the home to move the key.
void Protocol::move(Key key, NodeId to) {
    if (homes_.is_here(key))
        take(key, Localize{to});
    else
        post_.send(homes_.home(key), key, Localize{to});
}

void Protocol::take(Key key, const Localize &message) {
    NodeId owner = homes_.owner(key);
    if (homes_.is_lost(key)) {
        send_gone(message.to, key);
        return;
    }
    if (owner == message.to) return; // the key is there, or on its way there
    homes_.move(key, message.to);
    Relocate relocate{message.to};
    if (owner == self_)
        take(key, relocate);
    else
        post_.send(owner, key, relocate);
}

void Protocol::take(Key key, const Relocate &message) {
    if (message.to == self_) return note_stays(key);
    if (is_being_erased(key))
        erasures_[key].next.push_back(message);
    else if (owns(key))
        hand_on(key, {message});
    else
        expect(key).next.push_back(message);
}

// The home has not moved the key here, as it has no row. What has waited for it here goes on there. If another node had
// told the home to move the key, as this one wants it, nothing else will answer the Want.
void Protocol::leave_at_home(Key key) {
    roomless_ += asked_.erase(key);
    Arrival arrival;
    if (arrivals_.count(key)) arrival = arrivals_.extract(key);
    if (values_.standing(key) == Standing::awaited) values_.forget(key);
    for (uint64_t waiter : arrival.waiters) post_.landed(waiter, key);
    for (Waiting &waiting : arrival.queue)
        std::visit([&](auto &message) { take(key, std::move(message), not_from_home); }, waiting);
    for (Request &request : arrival.late) take(key, std::move(request), not_from_home);
}

// The home has refused to move the key away.
void Protocol::note_stays(Key key) {
    auto found = masters_.find(key);
    if (found != masters_.end()) found->second.promised = no_node;
}

void Protocol::transfer(Key key, const Relocate &relocate) {
    Transfer message{0, {}, {}, {}};
    auto found = masters_.find(key);
    if (found != masters_.end()) {
        message.version = found->second.version;
        message.replicas = std::move(found->second.replicas);
        message.ghosts = std::move(found->second.ghosts);
        masters_.erase(found);
    }
    values_.give(key, relocate.to, &message.value);
    offered_.erase(key);
    if (backups_) pass_backups_on(key, relocate.to, &message);
    post_.send(relocate.to, key, message);
    // Ask for a replica, not for the key: else two nodes that want a key would take it from each other for ever.
    if (wanted_.count(key) && techniques_ != Techniques::relocation_only) ask(key);
}

void Protocol::take(Key key, Transfer message) {
    if (owns(key)) throw Unexpected("a key comes that is here");
    if (homes_.is_here(key) && homes_.owner(key) != self_ && !arrivals_.count(key))
        throw Unexpected("a key comes that was to live elsewhere");
    take_in(key, std::move(message));
}

void Protocol::take_in(Key key, Transfer message) {
    Arrival &arrival = expect(key);
    Master master;
    master.version = message.version;
    master.replicas = std::move(message.replicas);
    master.ghosts = std::move(message.ghosts);
    take_over(key, master, message.value, arrival);
    asked_.erase(key);
    values_.own(key, message.value.data());
    if (backups_) take_backups_in(key, message);
    if (!master.replicas.empty()) values_.share(key);
    if (!master.replicas.empty() || !master.ghosts.empty()) {
        for (Replica &replica : master.replicas) replica.due = true; // they must learn that this node is the owner now
        Master &kept = masters_[key] = std::move(master);
        list(key, kept);
    }
    land(key);
}

// The key comes to a node that has a replica of it. Its value must then contain everything that was pushed here, and
// only once. A delta that the former owner has not received is applied now, and becomes a ghost: it does not count
// again when its message arrives.
void Protocol::take_over(Key key, Master &master, Bytes &value, Arrival &arrival) {
    std::vector<Replica> &replicas = master.replicas;
    auto found = replicas_.find(key);
    if (found != replicas_.end()) {
        Held &held = found->second;
        bool missed = held.on_its_way && std::any_of(replicas.begin(), replicas.end(), [&](const Replica &replica) {
                          return replica.node == self_ && replica.number == held.number && replica.applied != held.sent;
                      });
        if (missed) {
            if (!held.delta.empty()) values_.apply(&value, held.delta.data(), key);
            master.ghosts.push_back(Ghost{self_, held.number, held.sent});
        }
        for (Request &request : held.queue) arrival.queue.emplace_back(std::move(request));
        replicas_.erase(found);
    }
    replicas.erase(
        std::remove_if(replicas.begin(), replicas.end(), [&](const Replica &replica) { return replica.node == self_; }),
        replicas.end());
}

// The key is here: do what has waited for it, and erase it last. Then hand it on, if that was ordered meanwhile.
void Protocol::land(Key key) {
    Arrival arrival = arrivals_.extract(key);
    Erasure erasure;
    for (Waiting &waiting : arrival.queue) {
        if (auto *delta = std::get_if<Delta>(&waiting)) serve(key, *delta);
        auto *request = std::get_if<Request>(&waiting);
        if (!request) continue;
        if (request->operation != Operation::erase)
            serve(key, *request);
        else if (recent_.has(key, request->origin))
            post_.answer(request->origin, key, Bytes{1}, false);
        else
            erasure.requests.push_back(std::move(*request));
    }
    for (uint64_t waiter : arrival.waiters) post_.landed(waiter, key);
    if (erasure.requests.empty()) {
        hand_on(key, std::move(arrival.next));
    } else {
        erasure.next = std::move(arrival.next);
        begin_erasure(key, std::move(erasure));
    }
    for (Waiting &waiting : arrival.queue)
        if (auto *want = std::get_if<Want>(&waiting)) take(key, *want, not_from_home);
    for (const Request &request : arrival.late) post_.send(homes_.home(key), key, request, not_from_home);
}

// The first order is for now, the others for later, each after the key has come again.
void Protocol::hand_on(Key key, std::vector<Relocate> orders) {
    if (orders.empty()) return;
    if (waits_for_backup(key)) {
        std::vector<Relocate> &later = writes_[key].orders;
        later.insert(later.end(), orders.begin(), orders.end());
        return;
    }
    Relocate relocate = orders.front();
    orders.erase(orders.begin());
    if (!orders.empty()) arrivals_[key].next = std::move(orders);
    transfer(key, relocate);
    if (arrivals_.count(key)) expect(key);
}

} // namespace ps
