// Rows of keys: whether a key has one, and how it loses it. Both are asked of the key's home, where a key that exists
// always has a row, wherever it lives.
//
// A key that is to be erased first comes home, as if the home had localized it. There it waits until every replica has
// ended in the usual way, with its last delta: so a worker sees either everything that it has pushed, or nothing. Then
// the key is again what it was before its first use.
//
// A key that is let go, because others need its room, is erased at once, but only where nothing has to be waited for.
#include <algorithm>
#include <iterator>
#include <utility>

#include "protocol.h"
#include "step.h"

namespace ps {

namespace {

Bytes yes_or_no(bool yes) { return {char(yes)}; }

} // namespace

// A key that began on a lost node cannot become what it was at first, as no node can make it anew.
void Protocol::receive_about_row(Key key, Request request) {
    if (!homes_.is_here(key)) {
        post_.send(homes_.home(key), key, request, not_from_home);
        return;
    }
    const bool asks = request.operation == Operation::contains;
    if (homes_.is_lost(key))
        post_.refuse(request.origin, key, homes_.lost_with(key));
    else if (!asks && !begins_here(key))
        post_.refuse(request.origin, key, homes_.rule().base(key));
    else if (asks || !values_.has_row(key))
        post_.answer(request.origin, key, yes_or_no(!begins_here(key) || values_.has_row(key)), false);
    else
        step(key, [this, key, request = std::move(request)]() mutable { take_erasure(key, std::move(request)); });
}

bool Protocol::let_go(Key key) {
    if (!begins_here(key) || values_.standing(key) != Standing::owned || knows(key)) return false;
    return do_now(key, [&] {
        values_.erase(key);
        homes_.forget(key);
    });
}

void Protocol::take_erasure(Key key, Request request) {
    if (owns(key)) {
        Erasure erasure;
        erasure.requests.push_back(std::move(request));
        begin_erasure(key, std::move(erasure));
        return;
    }
    const bool is_coming = arrivals_.count(key);
    expect(key).queue.emplace_back(std::move(request));
    if (!is_coming) take(key, Localize{self_});
}

// Each replica gets the value first: then it certainly exists when the node is asked to end it.
void Protocol::begin_erasure(Key key, Erasure erasure) {
    if (is_being_erased(key)) {
        std::vector<Request> &requests = erasures_[key].requests;
        std::move(erasure.requests.begin(), erasure.requests.end(), std::back_inserter(requests));
        return;
    }
    erasures_[key] = std::move(erasure);
    auto found = masters_.find(key);
    if (found != masters_.end()) {
        Bytes value;
        values_.pull(key, &value);
        for (Replica &replica : found->second.replicas) {
            send_refresh(key, found->second, replica, value);
            post_.send(replica.node, key, Recall{replica.number});
        }
    }
    erase_if_alone(key);
}

// A delta that is on its way is sent once more, as it may have come to a node that keeps it until the key is there: the
// key stays at its home until all replicas have ended.
void Protocol::take(Key key, const Recall &message) {
    auto found = replicas_.find(key);
    if (found != replicas_.end() && found->second.number == message.number) {
        Held &held = found->second;
        held.recalled = held.ending = true;
        if (held.on_its_way)
            post_.send(homes_.home(key), key, Delta{self_, held.number, held.sent, held.ended, held.delta},
                       not_from_home);
        else
            end(key, held);
        return;
    }
    // The Refresh made none, because the key is to come here; the owner must not wait for it.
    send_end(key, message.number);
}

// Of a replica that this node does not have.
void Protocol::send_end(Key key, uint32_t number) {
    Delta ending{self_, number};
    ending.last = true;
    post_.send(homes_.home(key), key, ending, not_from_home);
}

void Protocol::erase_if_alone(Key key) {
    auto found = erasures_.find(key);
    if (found == erasures_.end()) return;
    auto master = masters_.find(key);
    if (master != masters_.end() && !master->second.replicas.empty()) return;
    Erasure erasure = std::move(found->second);
    erasures_.erase(found);
    forget_if_plain(key);
    values_.erase(key);
    if (homes_.owner(key) == self_ && erasure.next.empty()) homes_.forget(key);
    bool had_row = true;
    for (const Request &request : erasure.requests)
        post_.answer(request.origin, key, yes_or_no(std::exchange(had_row, false)), false);
    hand_on(key, std::move(erasure.next));
    for (const Want &want : erasure.wants) take(key, want, not_from_home);
}

} // namespace ps
