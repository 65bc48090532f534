// Replicas. A node asks for a key that its workers intend to use; the owner gives it the key or a replica. In rounds,
// what was pushed to a replica goes to the owner as a delta, and the owner's value comes back.
#include <algorithm>
#include <utility>

#include "protocol.h"
#include "step.h"

namespace ps {

namespace {
constexpr size_t turns = 8; // rounds in which all nodes have had a turn, if there are many
// Deltas of a node that has the only replica, before the key goes there, if there are many nodes. What others then send
// about the key passes its home, and of two such keys the home and the node rarely are the same, so that hardly any of
// these messages share one. Keys that all nodes use would gather where they were used first.
constexpr uint64_t uses_alone = 16;
} // namespace

void Protocol::want_key(Key key) {
    auto found = replicas_.find(key);
    if (found != replicas_.end()) {
        Held &held = found->second;
        if (!held.ended && !held.recalled && held.queue.empty()) held.ending = false;
    } else if (!owns(key) && !asked_.count(key)) {
        ask(key);
    }
}

void Protocol::stop_wanting_key(Key key) {
    auto found = replicas_.find(key);
    if (found != replicas_.end() && !arrivals_.count(key)) end(key, found->second);
    list_master(key); // if just one other node still wants the key, it can move there
    if (keys_go_home_) go_home(key);
}

void Protocol::ask(Key key) {
    asked_[key] = ++last_number_;
    take(key, Want{self_, last_number_}, not_from_home);
}

// Whether this answers what the node has asked for last.
bool Protocol::answer_asked(Key key, uint32_t number) {
    const uint32_t *asked = asked_.find(key);
    const bool is_answer = asked && *asked == number;
    if (is_answer) asked_.erase(key);
    return is_answer;
}

void Protocol::take(Key key, const Want &want, bool from_home) {
    Found found = find(key, from_home);
    if (found.here)
        serve(key, want);
    else if (found.later)
        expect(key).queue.emplace_back(want);
    else if (found.lost)
        send_gone(want.node, key);
    else
        post_.send(found.node, key, want, found.from_home);
}

void Protocol::serve(Key key, const Want &want) {
    if (want.node == self_) return; // the key has come here in another way
    if (is_being_erased(key)) {
        erasures_[key].wants.push_back(want);
        return;
    }
    if (leavers_.has(want.node)) return post_.send(want.node, key, Ended{want.number}); // it needs nothing any more
    auto found = masters_.find(key);
    bool alone = found == masters_.end() || found->second.replicas.empty();
    bool promised = found != masters_.end() && found->second.promised != no_node;
    bool relocate = techniques_ == Techniques::relocation_only ||
                    (moves_at_once() && alone && !promised && !wanted_.count(key));
    Master &master = masters_[key];
    if (relocate) {
        relocate_to(key, master, want.node);
        return;
    }
    if (values_.standing(key) == Standing::owned) {
        if (!values_.has_room_to_share(key)) {
            forget_if_plain(key);
            post_.send(want.node, key, Ended{want.number});
            return;
        }
        values_.share(key);
    }
    master.replicas.push_back(Replica{want.node, want.number, 0, true});
    Bytes value;
    values_.pull(key, &value);
    send_refresh(key, master, master.replicas.back(), value);
}

void Protocol::relocate_to(Key key, Master &master, NodeId node) {
    master.promised = node;
    move(key, node); // may hand the key over at once
}

void Protocol::send_refresh(Key key, Master &master, Replica &replica, const Bytes &value) {
    replica.due = replica.lacks = false;
    post_.send(replica.node, key, Refresh{self_, replica.number, ++master.version, replica.applied, value});
}

void Protocol::take(Key key, const Refresh &message) {
    auto found = replicas_.find(key);
    if (found != replicas_.end() && found->second.number == message.number) {
        Held &held = found->second;
        if (held.ended || message.version <= held.version) return;
        held.version = message.version;
        held.owner = message.owner;
        if (held.on_its_way && message.applied == held.sent) {
            held.on_its_way = false;
            held.delta.clear();
            if (held.listed) due_.push_back(key);
        }
        values_.refresh(key, message.value, held.delta);
        if (held.ending) end(key, held);
        return;
    }
    const bool expected = answer_asked(key, message.number);
    // The key brings its list of replicas along, from which this one will be removed.
    if (owns(key) || arrivals_.count(key)) return;
    if (expected && wanted_.count(key)) {
        values_.copy(key, message.value);
        Held &held = replicas_[key] = Held{};
        held.owner = message.owner;
        held.number = message.number;
        held.version = message.version;
    } else {
        Delta ending{self_, message.number};
        ending.last = true;
        take(key, std::move(ending), not_from_home);
    }
}

// Ask the owner to end a replica: at once, or when the delta on its way has arrived.
void Protocol::end(Key key, Held &held) {
    held.ending = true;
    if (held.on_its_way || held.ended) return;
    Delta delta{self_, held.number, ++held.sent};
    delta.last = true;
    values_.retire(key, &delta.value);
    held.ended = held.on_its_way = true;
    note_travelling(key);
    held.delta = delta.value;
    if (held.recalled) // not to wait here for the key, which may be on its way here only after this
        post_.send(homes_.home(key), key, delta, not_from_home);
    else
        take(key, std::move(delta), not_from_home);
}

void Protocol::send_delta(Key key, Held &held) {
    Delta delta{self_, held.number, held.sent + 1};
    delta.is_part = !held.whole;
    const bool any = held.whole ? values_.take_delta(key, &delta.value) : values_.take_part(key, &delta.value);
    if (!any && !held.due) return;
    held.due = held.whole = false;
    held.sent++;
    held.on_its_way = true;
    note_travelling(key);
    held.delta = delta.value;
    post_.send(held.owner, key, delta, not_from_home);
}

void Protocol::take(Key key, Delta delta, bool from_home) {
    Found found = find(key, from_home);
    if (found.here)
        serve(key, delta);
    else if (found.later)
        expect(key).queue.emplace_back(std::move(delta));
    else if (found.lost)
        send_gone(delta.node, key);
    else
        post_.send(found.node, key, delta, found.from_home);
}

// Whether the delta is part of the value already.
bool Protocol::take_ghost(Key key, const Delta &delta) {
    auto found = masters_.find(key);
    if (found == masters_.end()) return false;
    std::vector<Ghost> &ghosts = found->second.ghosts;
    auto ghost = std::find_if(ghosts.begin(), ghosts.end(), [&](const Ghost &known) {
        return known.node == delta.node && known.number == delta.number && known.sequence == delta.sequence;
    });
    if (ghost == ghosts.end()) return false;
    ghosts.erase(ghost);
    forget_if_plain(key);
    return true;
}

void Protocol::serve(Key key, const Delta &delta) {
    if (take_ghost(key, delta)) return;
    auto found = masters_.find(key);
    if (found != masters_.end()) { // if the replica is not known, this is its last delta, sent a second time
        std::vector<Replica> &replicas = found->second.replicas;
        auto replica = std::find_if(replicas.begin(), replicas.end(), [&](const Replica &known) {
            return known.node == delta.node && known.number == delta.number;
        });
        if (replica != replicas.end()) {
            if (!delta.value.empty() && delta.sequence > replica->applied) values_.push(key, delta.value);
            // Deltas that are sent again may come out of order.
            replica->applied = std::max(replica->applied, delta.sequence);
            replica->due = true;
            if (delta.last) replicas.erase(replica);
            list(key, found->second);
        }
    }
    if (delta.last && delta.node != self_) post_.send(delta.node, key, Ended{delta.number});
    erase_if_alone(key);
}

void Protocol::take(Key key, const Ended &message) {
    if (answer_asked(key, message.number)) { // the owner has no room to share the key, or the home none for a new key
        roomless_++;
        return;
    }
    auto found = replicas_.find(key);
    if (found == replicas_.end() || found->second.number != message.number) return;
    if (!found->second.ended) throw Unexpected("a replica ends that was to stay");
    std::vector<Request> queue = std::move(found->second.queue);
    replicas_.erase(found);
    if (!arrivals_.count(key)) values_.forget(key);
    for (Request &request : queue) take(key, std::move(request), not_from_home);
    if (wanted_.count(key) && !owns(key) && !asked_.count(key)) ask(key);
}

void Protocol::take_changes() {
    std::vector<Key> keys;
    values_.take_changes(&keys);
    for (Key key : keys) {
        auto found = replicas_.find(key);
        if (found != replicas_.end())
            list(key, found->second);
        else
            list_master(key);
        // A worker has written the whole of it, without the protocol. It may be deleted since.
        if (backups_ && owns(key) && values_.has_row(key)) lack(key);
    }
}

void Protocol::exchange() {
    take_changes();
    if (backups_) back_up_lacking();
    release_leavers();
    leaves_ ? hand_over() : spread();
    if (looks_for_keys_) look_for_keys_away();
    turn_ = (turn_ + with_turn()) % NodeId(settled_.size());
    const std::vector<Key> keys = std::exchange(due_, {});
    for (Key key : keys) {
        if (!values_.has_row(key))
            forget_erased(key);
        else if (!do_now(key, [&] { exchange(key); }))
            due_.push_back(key);
    }
}

// Looks at a key that was erased since it was listed.
void Protocol::forget_erased(Key key) {
    auto found = masters_.find(key);
    if (found == masters_.end()) return;
    found->second.listed = false;
    forget_if_plain(key);
}

void Protocol::list(Key key, Held &held) {
    if (held.listed) return;
    held.listed = true;
    if (!held.on_its_way) due_.push_back(key);
}

void Protocol::list(Key key, Master &master) {
    if (master.listed) return;
    master.listed = true;
    due_.push_back(key);
}

void Protocol::list_master(Key key) {
    auto found = masters_.find(key);
    if (found != masters_.end()) list(key, found->second);
}

void Protocol::exchange(Key key) {
    auto held = replicas_.find(key);
    if (held != replicas_.end()) exchange(key, held->second);
    auto master = masters_.find(key);
    if (master != masters_.end()) exchange(key, master->second);
}

void Protocol::exchange(Key key, Held &held) {
    if (held.on_its_way) return; // it stays listed until that delta has arrived
    held.listed = false;
    send_delta(key, held);
}

// A replica whose node waits for an answer gets the value at once, the others when it is their nodes' turn.
void Protocol::refresh_replicas(Key key, Master &master) {
    const bool changed = values_.take_changed(key);
    Bytes value;
    for (Replica &replica : master.replicas) {
        replica.lacks |= changed;
        if (!replica.due && !(replica.lacks && has_turn(replica.node))) continue;
        if (!post_.takes_refreshes(replica.node)) continue;
        if (value.empty()) values_.pull(key, &value);
        send_refresh(key, master, replica, value);
    }
    if (waits_for_refresh(master)) list(key, master);
}

// Whether the node gets the values of this round for which it does not wait. On many nodes each does in one of some
// rounds: else a key that n nodes change would take n * n messages.
bool Protocol::has_turn(NodeId node) const {
    const auto places = NodeId(settled_.size());
    return has_few_nodes() || (node + places - turn_) % places < with_turn();
}

// How many nodes have their turn in a round.
NodeId Protocol::with_turn() const { return std::max(NodeId(few_nodes), NodeId(settled_.size() / turns)); }

void Protocol::exchange(Key key, Master &master) {
    master.listed = false;
    if (values_.standing(key) == Standing::shared) refresh_replicas(key, master);
    bool may_relocate = techniques_ == Techniques::all && master.promised == no_node && !wanted_.count(key) &&
                        !is_being_erased(key);
    const bool is_alone = master.replicas.size() == 1 && !leavers_.has(master.replicas[0].node);
    if (may_relocate && is_alone && (has_few_nodes() || master.replicas[0].applied >= uses_alone))
        relocate_to(key, master, master.replicas[0].node);
    else
        forget_if_plain(key);
    if (keys_go_home_) go_home(key);
}

void Protocol::forget_if_plain(Key key) {
    auto found = masters_.find(key);
    if (found == masters_.end()) return;
    Master &master = found->second;
    if (!master.replicas.empty()) return;
    if (values_.standing(key) == Standing::shared) values_.unshare(key);
    if (master.ghosts.empty() && master.promised == no_node) masters_.erase(found);
}

// Whether a key that nobody else uses goes to the first node that wants it.
bool Protocol::moves_at_once() const {
    return techniques_ == Techniques::relocation_only || (techniques_ == Techniques::all && has_few_nodes());
}

bool Protocol::has_few_nodes() const { return homes_.rule().members().size() <= few_nodes; }

bool Protocol::waits_for_refresh(const Master &master) {
    return std::any_of(master.replicas.begin(), master.replicas.end(),
                       [](const Replica &replica) { return replica.due || replica.lacks; });
}

bool Protocol::is_quiet() const {
    if (!arrivals_.empty() || !erasures_.empty() || !asked_.empty() || !parked_.empty()) return false;
    if (!writes_.empty() || !runs_.empty() || !lacking_.empty() || !taking_over_.empty()) return false;
    for (const auto &[key, held] : replicas_)
        if (held.on_its_way || held.ending) return false;
    for (const auto &[key, master] : masters_) {
        if (!master.ghosts.empty() || master.promised != no_node) return false;
        if (waits_for_refresh(master)) return false;
    }
    return true;
}

} // namespace ps
