// How a worker waits for its operations, and how a wait ends when a node is lost or a connection breaks.
#include <algorithm>
#include <cstdio>

#include "errors.h"
#include "net/remote.h"
#include "segment/process.h"
#include "worker/loss.h"

namespace ps {

namespace {
constexpr char the_introduction[] = "nothing was sent: the introduction to the node's server has";
constexpr const char *operation_names[] = {"pull", "push", "set", "localize"}; // by ps::Operation
constexpr const char *may_happen[] = {"its buffer may be filled in part", "it may have been done, or be done yet",
                                      "it may have been done, or be done yet", "the keys may have come, or come yet"};

[[noreturn]] void fail_late(double timeout, double patience, const char *what) {
    fail(patience < timeout ? PS_EBUSY : PS_ETIMEDOUT, Where{}, "%s not finished in time", what);
}
} // namespace

void Remote::be_introduced(double timeout, double patience) {
    if (is_introduced()) return;
    wait_until([&] { return is_introduced(); }, timeout, patience, the_introduction);
}

void Remote::make_room(uint64_t bytes, double timeout) {
    const InFlight &in_flight = requests_.in_flight();
    if (in_flight.has_room(bytes)) return;
    char what[160];
    std::snprintf(what, sizeof what,
                  "nothing was sent: one of %zu operations on their way, with %llu bytes where in_flight is %llu, has",
                  in_flight.count(), static_cast<unsigned long long>(in_flight.bytes()),
                  static_cast<unsigned long long>(in_flight.limit()));
    wait_until([&] { return in_flight.has_room(bytes); }, timeout, patience_, what);
}

void Remote::make_room_for_intents(uint64_t bytes, double timeout) {
    if (requests_.make_room_for_intents(bytes)) return;
    wait_until([&] { return requests_.make_room_for_intents(bytes); }, timeout, patience_, the_introduction);
}

// Nothing is sent while this waits, so a key that has no conflict now stays without: it is not looked at again.
void Remote::wait_for_keys(const ps_request &request, double timeout) {
    int64_t free = 0; // so many keys from the first have no conflict
    wait_until([&] { return (free = requests_.next_conflict(request, free)) == request.num_keys; }, timeout, patience_,
               "nothing was sent: earlier operations on the same keys have");
}

void Remote::wait_for_buffer(const ps_request &request, Deadline &deadline) {
    for (int64_t pull; (pull = filling(request)) >= 0;) {
        wait_until([&] { return !requests_.is_on_its_way(pull); }, deadline.left(), patience_,
                   "nothing was sent: an earlier pull into the same buffer has");
        require_not_failed(pull);
    }
}

void Remote::require_issued(int64_t timestamp) const {
    if (!requests_.is_issued(timestamp))
        fail(PS_EINVAL, Where{-1, timestamp, requests_.last_issued()},
             "timestamp %lld was not returned by an operation of this worker", static_cast<long long>(timestamp));
}

bool Remote::is_finished(int64_t timestamp) {
    require_issued(timestamp);
    bool more;
    do {
        more = transport_->wait(0);
        receive();
    } while (more && requests_.is_on_its_way(timestamp));
    if (requests_.is_on_its_way(timestamp)) look_for_breaks(monotonic_seconds());
    if (requests_.is_on_its_way(timestamp)) return false;
    require_not_failed(timestamp);
    return true;
}

void Remote::wait(int64_t timestamp, double timeout) {
    require_issued(timestamp);
    auto has_ended = [&] { return !requests_.is_on_its_way(timestamp); };
    if (is_in_time(has_ended, std::min(timeout, patience_)) || has_ended()) return require_not_failed(timestamp);
    auto kind = int(requests_.operation(timestamp));
    char what[160];
    std::snprintf(what, sizeof what, "the %s of %zu keys was sent, and %s: it has", operation_names[kind],
                  requests_.num_keys(timestamp), may_happen[kind]);
    fail_late(timeout, patience_, what);
}

void Remote::wait_all(double timeout) {
    wait_until([&] { return requests_.is_idle(); }, timeout, patience_, "the operations on their way have");
    NodeId node = requests_.take_failures();
    if (node != no_node) fail_for(node);
}

void Remote::settle(Until until, double timeout, uint64_t behind) {
    double start = monotonic_seconds();
    Questions &questions = requests_.questions();
    if (!questions.take_kept(until)) {
        if (until != Until::told) wait_all(timeout);
        requests_.ask(until);
    }
    double left = std::max(start + timeout - monotonic_seconds(), 0.0);
    if (is_in_time([&] { return questions.is_settled(behind); }, std::min(left, patience_))) return;
    if (patience_ < left) questions.keep(until);
    fail_late(left, patience_, "the exchange with other nodes has");
}

bool Remote::is_in_time(const std::function<bool()> &done, double seconds) {
    double start = 0;
    for (;;) {
        receive();
        if (done()) return true;
        double now = monotonic_seconds();
        if (start == 0) start = now;
        look_for_breaks(now);
        if (now - start > seconds) return false;
        transport_->wait(std::min(look_again_after, start + seconds - now));
        check_();
        require_nobody_left(segment_);
    }
}

void Remote::wait_until(const std::function<bool()> &done, double timeout, double patience, const char *what) {
    if (is_in_time(done, std::min(timeout, patience))) return;
    fail_late(timeout, patience, what);
}

void Remote::require_not_failed(int64_t timestamp) {
    NodeId node = requests_.take_failure(timestamp);
    if (node != no_node) fail_for(node);
}

void Remote::fail_for(NodeId node) const {
    const int64_t rows = segment_.header().is_range() ? 0 : segment_.header().capacity;
    if (node == no_room && rows)
        fail(PS_ENOMEM, Where{-1, rows, int64_t(segment_.header().memory_limit)},
             "a node has no room for keys that were not used before: its capacity is %lld keys, its memory_limit %llu "
             "bytes (0: what the host has); the operation's other keys may have been done",
             static_cast<long long>(rows), static_cast<unsigned long long>(segment_.header().memory_limit));
    if (node == no_room)
        fail(PS_ENOMEM, Where{-1, int64_t(segment_.header().memory_limit), 0},
             "the keys have no room on this node beside what it holds: its memory_limit is %llu bytes",
             static_cast<unsigned long long>(segment_.header().memory_limit));
    if (segment_.member(node).state.load(std::memory_order_acquire) != Member::here) fail_lost(segment_, node);
    fail(PS_ELOST, Where{-1, node, 0},
         "this worker's connection to node %u broke: what was on its way may have been done or not", node);
}

} // namespace ps
