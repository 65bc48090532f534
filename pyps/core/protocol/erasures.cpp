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

// A key that began on a lost node can become what it was at first only if it is known which keys that node had.
void Protocol::receive_about_row(Key key, Request request) {
    if (!homes_.is_here(key)) {
        post_.send(homes_.home(key), key, request, not_from_home);
        return;
    }
    const bool asks = request.operation == Operation::contains;
    if (!asks && recent_.has(key, request.origin))
        post_.answer(request.origin, key, yes_or_no(true), false);
    else if (homes_.is_lost(key) && !is_unborn(key))
        post_.refuse(request.origin, key, homes_.lost_with(key));
    else if (!asks && !begins_here(key) && !is_whole_)
        post_.refuse(request.origin, key, homes_.unlisted_with(key));
    else if (asks || is_unused(key))
        post_.answer(request.origin, key, yes_or_no(!is_unused(key)), false);
    else
        step(key, [this, key, request = std::move(request)]() mutable { take_erasure(key, std::move(request)); });
}

bool Protocol::let_go(Key key) {
    if (backups_ || former_ || !begins_here(key) || values_.standing(key) != Standing::owned || knows(key))
        return false;
    return do_now(key, [&] {
        values_.erase(key);
        homes_.forget(key);
    });
}

void Protocol::take_erasure(Key key, Request request) {
    Write *write = find_write(key);
    if (write && !write->orders.empty()) {
        write->later.push_back(std::move(request));
        return;
    }
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
        for (Replica &replica : found->second.replicas) recall(key, found->second, replica, value);
    }
    erase_if_alone(key);
}

// The replica gets the value first: then it certainly exists when the node is asked to end it.
void Protocol::recall(Key key, Master &master, Replica &replica, const Bytes &value) {
    send_refresh(key, master, replica, value);
    post_.send(replica.node, key, Recall{replica.number});
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
    if (backups_ == 0) return erase_here(key, std::move(erasures_.extract(found).mapped()), true);
    const Write *write = find_write(key);
    if (!write)
        erase_backups(key, found->second.requests);
    else if (write->erases && !write->is_on_its_way)
        end_erasure(key, writes_.extract(key).mapped().written);
}

// The keepers erase their backups before the value goes: what was deleted must not come back when this node is lost.
// They do not note who asked for it: another keeper may have the key again, if this node is lost before all have done
// so.
void Protocol::erase_backups(Key key, const std::vector<Request> &requests) {
    Write &write = begin_write(key);
    write.erases = true;
    write.whole = values_.first_whole(key);
    for (const Request &request : requests) write.next.push_back({request.origin, true});
    erasures_[key].requests.clear();
    send_backup(key, write);
}

void Protocol::end_erasure(Key key, const std::vector<Write::Request> &requests) {
    bool had_row = true;
    for (const Write::Request &request : requests) {
        recent_.note(key, request.origin);
        if (request.is_asked) post_.answer(request.origin, key, yes_or_no(std::exchange(had_row, false)), false);
    }
    keepers_.forget(key);
    lacking_.erase(key);
    erase_here(key, std::move(erasures_.extract(key).mapped()), false);
}

// What was to be done to the key after its erasure uses it again.
void Protocol::erase_here(Key key, Erasure erasure, bool had_row) {
    forget_if_plain(key);
    values_.erase(key);
    if (!erasure.next.empty() && !owns(key))
        make(key);
    else if (homes_.owner(key) == self_ && erasure.next.empty())
        homes_.forget(key);
    for (const Request &request : erasure.requests)
        post_.answer(request.origin, key, yes_or_no(std::exchange(had_row, false)), false);
    for (Request &request : erasure.later) take(key, std::move(request), not_from_home);
    hand_on(key, std::move(erasure.next));
    for (const Want &want : erasure.wants) take(key, want, not_from_home);
}

} // namespace ps
