// How a request finds the key's owner, and what happens there.
#include "protocol.h"

namespace ps {

bool Protocol::owns(Key key) const {
    Standing standing = values_.standing(key);
    return standing == Standing::owned || standing == Standing::shared;
}

// Where a message for the key's owner goes from here.
Protocol::Found Protocol::find(Key key, bool from_home) {
    if (is_unborn(key)) bear(key);
    Found found;
    if (owns(key)) {
        found.here = true;
    } else if (from_home || arrivals_.count(key)) {
        found.later = true;
    } else if (!homes_.is_here(key)) {
        found.node = homes_.home(key);
    } else {
        found.node = homes_.owner(key);
        found.lost = homes_.is_lost(key);
        found.from_home = true;
        found.later = found.node == self_;
    }
    return found;
}

Arrival &Protocol::expect(Key key) {
    if (values_.standing(key) == Standing::absent) values_.await(key);
    return arrivals_[key];
}

void Protocol::take(Key key, Request request, bool from_home) {
    if (!from_home && serve_by_replica(key, request)) return;
    Found found = find(key, from_home);
    if (found.here) {
        serve(key, request);
        if (keys_go_home_ && request.origin.node != self_) go_home(key);
    } else if (found.later)
        await(expect(key), std::move(request), from_home);
    else if (found.lost)
        post_.refuse(request.origin, key, homes_.lost_with(key));
    else
        post_.send(found.node, key, request, found.from_home);
}

// A request behind an order to hand the key on is for when it has come again: a pull may follow a push that the home
// has passed on to the node to which the key goes first.
void Protocol::await(Arrival &arrival, Request request, bool from_home) {
    if (from_home && !arrival.next.empty())
        arrival.late.push_back(std::move(request));
    else
        arrival.queue.emplace_back(std::move(request));
}

void Protocol::serve(Key key, const Request &request) {
    if (backups_ && is_write(request.operation)) return write(key, request);
    Bytes value;
    switch (request.operation) {
    case Operation::pull: values_.pull(key, &value); break;
    case Operation::push: values_.push(key, request.value); break;
    case Operation::set: values_.set(key, request.value); break;
    case Operation::localize:
    case Operation::contains:
    case Operation::erase: break; // never served here
    }
    post_.answer(request.origin, key, value, refresh_origin(key, request.origin.node));
}

// After its operation a worker must not find an older value in its node's replica. A Refresh that was sent before might
// be slower than the answer, so one is sent again, and the answer goes the same way behind it.
bool Protocol::refresh_origin(Key key, NodeId node) {
    auto found = masters_.find(key);
    if (node == self_ || found == masters_.end()) return false;
    Master &master = found->second;
    bool any = false;
    for (Replica &replica : master.replicas) {
        if (replica.node != node) continue;
        Bytes value;
        values_.pull(key, &value);
        send_refresh(key, master, replica, value);
        any = true;
    }
    return any;
}

// Requests of this node's workers for a key that has a replica here now; not those that the home passes on to the owner
// that this node is to be: a pull may follow a push that the replica lacks, as it went to the former one. Pulls and
// pushes are done on the replica, as the worker itself would do them. What a replica cannot do, for example a set, is
// done by the owner, after it has everything that was pushed here: so the replica ends first.
bool Protocol::serve_by_replica(Key key, Request &request) {
    auto found = replicas_.find(key);
    if (found == replicas_.end() || request.origin.node != self_) return false;
    if (backups_ && is_write(request.operation)) return false; // only the owner has the backups
    Held &held = found->second;
    if (values_.standing(key) == Standing::replica && values_.fits_replica(key, request.operation)) {
        serve(key, request);
        return true;
    }
    if (arrivals_.count(key)) return false; // it will be owned here: the request waits for that
    held.queue.push_back(std::move(request));
    end(key, held);
    return true;
}

} // namespace ps
