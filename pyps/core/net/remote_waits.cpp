// How a worker waits for what it has on its way, and how that ends when others are lost or a connection breaks.
#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>

#include "errors.h"
#include "net/remote.h"
#include "segment/process.h"
#include "worker/loss.h"

namespace ps {

namespace {
constexpr double look_again_after = 0.1; // seconds: how soon a wait notices that there is nothing to wait for
constexpr char the_introduction[] = "nothing was sent: the introduction to the node's server has";
constexpr const char *operation_names[] = {"pull", "push", "set", "localize"}; // by ps::Operation
constexpr const char *may_happen[] = {"its buffer may be filled in part", "it may have been done, or be done yet",
                                      "it may have been done, or be done yet", "the keys may have come, or come yet"};

[[noreturn]] void fail_late(double timeout, double patience, const char *what) {
    fail(patience < timeout ? PS_EBUSY : PS_ETIMEDOUT, Where{}, "%s not finished in time", what);
}
} // namespace

void Remote::be_introduced(double timeout, double patience) {
    if (is_introduced_) return;
    wait_until([&] { return welcome_; }, timeout, patience, the_introduction);
    is_introduced_ = true;
}

void Remote::make_room(uint64_t bytes, double timeout) {
    if (in_flight_.has_room(bytes)) return;
    char what[160];
    std::snprintf(what, sizeof what,
                  "nothing was sent: one of %zu operations on their way, with %llu bytes where in_flight is %llu, has",
                  in_flight_.count(), static_cast<unsigned long long>(in_flight_.bytes()),
                  static_cast<unsigned long long>(in_flight_.limit()));
    wait_until([&] { return in_flight_.has_room(bytes); }, timeout, patience_, what);
}

void Remote::make_room_for_intents(uint64_t bytes, double timeout) {
    if (announced_.has_room(bytes)) return;
    if (welcome_) say_hello();
    wait_until([&] { return welcome_; }, timeout, patience_, the_introduction);
    announced_.clear();
}

// Nothing is sent meanwhile, so a key that is free stays so: each is looked at until it is, and not again.
void Remote::wait_for_keys(const ps_request &request, double timeout) {
    int64_t free = 0; // so many are
    wait_until([&] { return (free = next_conflict(request, free)) == request.num_keys; }, timeout, patience_,
               "nothing was sent: earlier operations on the same keys have");
}

void Remote::wait_for_buffer(const ps_request &request, Deadline &deadline) {
    for (int64_t pull; (pull = filling(request)) >= 0;) {
        wait_until([&] { return !operations_.count(pull); }, deadline.left(), patience_,
                   "nothing was sent: an earlier pull into the same buffer has");
        require_not_failed(pull);
    }
}

void Remote::require_issued(int64_t timestamp) const {
    if (timestamp < -1 || timestamp >= next_)
        fail(PS_EINVAL, Where{-1, timestamp, next_ - 1},
             "timestamp %lld was not returned by an operation of this worker", static_cast<long long>(timestamp));
}

bool Remote::is_finished(int64_t timestamp) {
    require_issued(timestamp);
    connections_.wait(0);
    receive();
    if (operations_.count(timestamp)) look_for_breaks(monotonic_seconds());
    if (operations_.count(timestamp)) return false;
    require_not_failed(timestamp);
    return true;
}

void Remote::wait(int64_t timestamp, double timeout) {
    require_issued(timestamp);
    auto has_ended = [&] { return !operations_.count(timestamp); };
    if (is_in_time(has_ended, std::min(timeout, patience_)) || has_ended()) return require_not_failed(timestamp);
    const Operation &operation = operations_.at(timestamp);
    char what[160];
    std::snprintf(what, sizeof what, "the %s of %zu keys was sent, and %s: it has",
                  operation_names[int(operation.operation)], operation.keys.size(),
                  may_happen[int(operation.operation)]);
    fail_late(timeout, patience_, what);
}

void Remote::wait_all(double timeout) {
    wait_until([&] { return operations_.empty(); }, timeout, patience_, "the operations on their way have");
    if (!failures_.empty()) fail_for(failures_.take_all());
}

void Remote::settle(Until until, double timeout) {
    double start = monotonic_seconds();
    if (std::exchange(asking_, std::nullopt) != until) {
        wait_all(timeout);
        SettleMessage message{until, ++asked_};
        connections_.send(header_.from, message.encode(header_));
    }
    double left = std::max(start + timeout - monotonic_seconds(), 0.0);
    if (is_in_time([&] { return settled_ == asked_; }, std::min(left, patience_))) return;
    if (patience_ < left) asking_ = until;
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
        connections_.wait(std::min(look_again_after, start + seconds - now));
        check_();
        require_nobody_left(segment_);
    }
}

void Remote::wait_until(const std::function<bool()> &done, double timeout, double patience, const char *what) {
    if (is_in_time(done, std::min(timeout, patience))) return;
    fail_late(timeout, patience, what);
}

// In a new epoch nobody answers what was asked in a former one.
void Remote::look_at_epoch() {
    uint32_t epoch = segment_.header().epoch.load(std::memory_order_acquire);
    if (epoch == header_.epoch) return;
    header_.epoch = epoch;
    std::vector<NodeId> members;
    for (NodeId node = 0; node < shape_.num_nodes(); node++)
        if (is_member(segment_, node)) members.push_back(node);
    rule_ = HomeRule(shape_.num_nodes(), std::move(members));
    auto lost = NodeId(segment_.header().lost_last.load(std::memory_order_acquire));
    for (const auto &[number, operation] : operations_) failures_.add(number, lost);
    operations_.clear();
    in_flight_.clear();
    keys_ = {};
    filled_.clear();
    std::fill(std::begin(underway_), std::end(underway_), 0);
}

void Remote::require_not_failed(int64_t timestamp) {
    NodeId node = failures_.take(timestamp);
    if (node != no_node) fail_for(node);
}

// What was on its way when a connection broke may be lost. First the node gets time to turn out as lost, which says
// more and ends these operations as well; most that were not lost are answered by then.
void Remote::look_for_breaks(double now) {
    if (now < look_at_) return;
    look_at_ = now + look_again_after;
    for (NodeId node : connections_.broken()) breaks_.push_back({node, now, next_});
    while (!breaks_.empty() && now > breaks_.front().seen + 2 * segment_.header().heartbeat) {
        Break broken = breaks_.front();
        breaks_.pop_front();
        give_up(broken);
    }
}

// Any node may pass a request on to any other, and that one answers: only what this node's own server does by itself is
// sure to have taken no other way.
void Remote::give_up(const Break &broken) {
    bool own = broken.node == header_.from;
    given_up_ = std::max(given_up_, broken.before);
    for (auto next = operations_.begin(); next != operations_.end();) {
        auto found = next++;
        Operation &operation = found->second;
        if (found->first >= broken.before || (!own && operation.operation == ps::Operation::localize)) continue;
        if (operation.noted)
            for (size_t i = 0; i < operation.keys.size(); i++)
                if (!operation.is_answered(i)) keys_.remove(operation.keys[i]);
        failures_.add(found->first, broken.node);
        drop(found);
    }
    if (!own || (welcome_ && settled_ == asked_)) return;
    welcome_ = true; // nobody waits for it any more
    settled_ = asked_;
    asking_.reset();
    fail_for(broken.node);
}

void Remote::fail_for(NodeId node) const {
    if (node == no_room)
        fail(PS_ENOMEM, Where{-1, int64_t(segment_.header().memory_limit), 0},
             "the keys have no room on this node beside what it holds: its memory_limit is %llu bytes",
             static_cast<unsigned long long>(segment_.header().memory_limit));
    if (segment_.member(node).state.load(std::memory_order_acquire) != Member::here) fail_lost(segment_, node);
    fail(PS_ELOST, Where{-1, node, 0},
         "this worker's connection to node %u broke: what was on its way may have been done or not", node);
}

} // namespace ps
