// Messages about many keys. Most keys are plain: nothing is known about them but where they live. Such keys go to their
// new owner in one message. Any other key is handled by itself, as everywhere else.
#include <algorithm>
#include <cstddef>

#include "each_key.h"
#include "protocol.h"
#include "step.h"

namespace ps {

// Whether the key is owned here, has no replicas and no backups, and is not wanted by this node's workers.
bool Protocol::is_plain(Key key) const {
    return backups_ == 0 && values_.standing(key) == Standing::owned && (masters_.empty() || !masters_.count(key)) &&
           !wanted_.count(key);
}

void Protocol::give(Key key, NodeId to, Moves *moves) {
    if (moves->keys.empty())
        moves->values.reserve(std::min(most_bytes_at_once, keys_at_once * values_.whole_bytes(key)));
    moves->keys.push_back(key);
    values_.give(key, to, &moves->values);
    if (moves->keys.size() >= keys_at_once || moves->values.size() >= most_bytes_at_once) send_moves(to, moves);
}

void Protocol::send_moves(NodeId to, Moves *moves) {
    if (!moves->keys.empty()) post_.send(to, std::move(*moves));
    *moves = Moves{};
}

void Protocol::localize(const std::vector<Key> &keys, uint64_t waiter) {
    for_each(keys, [&](size_t, Key key) {
        step(key, [=] {
            if (leaves_ || homes_.is_here(key) || values_.standing(key) != Standing::absent) {
                localize_key(key, waiter);
                return;
            }
            values_.await(key);
            arrivals_.add(key, waiter);
            post_.send(homes_.home(key), key, Localize{self_});
        });
    });
}

void Protocol::want(const std::vector<Key> &keys, bool for_long) {
    const bool brings = for_long && techniques_ == Techniques::all && !moves_at_once();
    for_each(keys, [&](size_t, Key key) {
        wanted_[key] = true;
        if (brings) return step(key, [=] { bring_here(key); });
        bool absent = values_.standing(key) == Standing::absent; // no replica is here, also none that is about to end
        if (!absent || homes_.is_here(key) || asked_.count(key) || parked_.count(key)) {
            step(key, [=] { want_key(key); });
            return;
        }
        asked_[key] = ++last_number_;
        post_.send(homes_.home(key), key, Want{self_, last_number_}, not_from_home);
    });
}

void Protocol::stop_wanting(const std::vector<Key> &keys) {
    for_each(keys, [&](size_t, Key key) {
        wanted_.erase(key);
        const bool is_plain = !replicas_.count(key) && !masters_.count(key) && !parked_.count(key);
        if ((keys_go_home_ || !is_plain) && values_.has_row(key)) step(key, [=] { stop_wanting_key(key); });
    });
}

// A key without a row stays at its home. What this node itself has asked for may come after the key was erased, for
// which it had come here. One that was offered to the asker is offered again, once it has a row.
template <class Answer>
void Protocol::leave_here(Key key, NodeId asker, const Answer &answer) {
    if (asker == self_) return;
    offered_.erase(key);
    post_.send(asker, key, answer);
}

void Protocol::receive_run(const std::vector<Key> &keys, const Localize &message) {
    if (is_empty_) return; // it is asked for again, as what the next one asks for is
    if (leavers_.has(message.to)) return let_stay(keys);
    Moves moves;
    for_each(keys, [&](size_t, Key key) {
        auto give_it = [&] {
            if (homes_.owner(key) != self_ || message.to == self_ || !is_plain(key)) {
                take(key, message);
                return;
            }
            homes_.move(key, message.to);
            give(key, message.to, &moves);
        };
        if (awaits_admission(key))
            leave_here(key, message.to, Gone{not_admitted});
        else if (!values_.admit(key))
            post_.send(message.to, key, Gone{no_room});
        else if (!do_now(key, give_it))
            parked_.add(key, {[=] { take(key, message); }});
    });
    send_moves(message.to, &moves);
}

void Protocol::receive_run(const std::vector<Key> &keys, const Relocate &message) {
    Moves moves;
    for_each(keys, [&](size_t, Key key) {
        auto give_it = [&] { is_plain(key) ? give(key, message.to, &moves) : take(key, message); };
        if (!do_now(key, give_it)) parked_.add(key, {[=] { take(key, message); }});
    });
    send_moves(message.to, &moves);
}

void Protocol::receive_wants(const std::vector<Key> &keys, NodeId node, const std::vector<uint32_t> &numbers,
                             bool from_home) {
    if (is_empty_) return;
    Moves moves;
    for_each(keys, [&](size_t i, Key key) {
        Want message{node, numbers[i]};
        auto give_it = [&] {
            bool at_home = homes_.is_here(key) && homes_.owner(key) == self_;
            if (node == self_ || !moves_at_once() || !at_home || !is_plain(key)) {
                take(key, message, from_home);
                return;
            }
            homes_.move(key, node);
            give(key, node, &moves);
        };
        if (awaits_admission(key))
            leave_here(key, node, Ended{numbers[i]});
        else if (!values_.admit(key))
            post_.send(node, key, Ended{numbers[i]});
        else if (!do_now(key, give_it))
            parked_.add(key, {[=] { take(key, message, from_home); }});
    });
    send_moves(node, &moves);
}

void Protocol::receive_moves(const std::vector<Key> &keys, const char *values) {
    bool any_strange = false;
    for_each(keys, [&](size_t, Key key) {
        const char *value = values;
        values += values_.whole_bytes(key);
        auto own_it = [&] {
            const uint64_t *waiter = arrivals_.only_waiter(key);
            bool alone = waiter || !arrivals_.count(key), replica = !replicas_.empty() && replicas_.count(key);
            bool strange = owns(key) || (alone && !waiter && homes_.is_here(key) && homes_.owner(key) != self_);
            any_strange |= strange;
            if (strange) return;
            if (!alone || replica) {
                take(key, Transfer{0, {}, {}, Bytes(value, values)});
                return;
            }
            asked_.erase(key);
            values_.own(key, value);
            if (!waiter) return;
            uint64_t number = *waiter;
            arrivals_.remove_waiter(key);
            post_.landed(number, key);
        };
        if (!do_now(key, own_it)) bring(key, Transfer{0, {}, {}, Bytes(value, values)}, epoch_);
    });
    if (any_strange) throw Unexpected("keys come that are here or were to live elsewhere");
}

} // namespace ps
