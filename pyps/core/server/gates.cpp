#include "server/gates.h"

#include <utility>

#include "net/peer.h"
#include "segment/process.h"
#include "worker/barrier.h"
#include "worker/workers.h"

namespace ps {

Gates::Gates(Segment &segment, Tuning &tuning, Send send)
    : segment_(segment), tuning_(tuning), header_(header_from(segment)), send_(std::move(send)),
      workers_(*this, Barriers::workers, segment.header().worker_rounds),
      nodes_(*this, Barriers::nodes, segment.header().node_rounds),
      leave_(*this, Barriers::leave, segment.header().leave_rounds), met_(segment.header().places) {}

Gates::Entrance::Entrance(Gates &owner, Barriers which, Rounds &shown)
    : gates(owner), barrier(which), gate(owner.header_.from, NodeId(owner.segment_.header().places), *this),
      rounds(shown) {}

void Gates::Entrance::send(NodeId to, const Attend &message) {
    gates.send_(to, AttendMessage{barrier, message}.encode(gates.header_));
}

void Gates::Entrance::send(NodeId to, const Opened &message) {
    gates.send_(to, OpenedMessage{barrier, message}.encode(gates.header_));
}

// It looks first, as settings may have come since, of which others do not know: then the host has not arrived any more.
void Gates::receive(NodeId from, const AttendMessage &message) {
    Entrance &at = entrance(message.barrier);
    look(at);
    at.gate.receive(from, message.attend);
    look(at);
}

void Gates::receive(NodeId from, const OpenedMessage &message) {
    Entrance &at = entrance(message.barrier);
    at.gate.receive(from, message.opened);
    look(at);
}

void Gates::meet(NodeId node) { met_[node] = true; }

// At the end, nothing waits for a node that never began to work.
void Gates::leave() {
    if (std::exchange(is_leaving_, true)) return;
    for (NodeId node = 0; node < met_.size(); node++)
        if (node != header_.from && !met_[node]) leave_.gate.lose(node);
}

void Gates::lose(NodeId node) {
    for (Entrance *at : {&workers_, &nodes_, &leave_}) {
        look(*at);
        at->gate.lose(node);
        look(*at);
    }
}

void Gates::join(NodeId node) {
    for (Entrance *at : {&workers_, &nodes_, &leave_}) at->gate.join(node);
    meet(node);
}

bool Gates::is_anybody_waiting() const {
    return workers_.gate.is_called() || nodes_.gate.is_called() || leave_.gate.is_called() || !tuning_.are_known();
}

void Gates::look() {
    if (workers_.gate.is_called() && monotonic_seconds() - last_reclaim_ >= look_again_after) {
        reclaim_dead(segment_);
        last_reclaim_ = monotonic_seconds();
    }
    if (is_anybody_waiting() && monotonic_seconds() - last_repeat_ >= repeat_after) {
        tuning_.repeat();
        for (Entrance *at : {&workers_, &nodes_, &leave_}) at->gate.repeat();
        last_repeat_ = monotonic_seconds();
    }
    if (segment_.header().leave_arrival.load(std::memory_order_acquire)) leave();
    for (Entrance *at : {&workers_, &nodes_, &leave_}) look(*at);
}

// How this node stands at the next round. What workers have changed before they arrived is told first, and nobody has
// arrived before it is known.
Attendance Gates::attendance(const Entrance &at) {
    const Attendance found = arrivals(at);
    tuning_.look();
    return tuning_.are_known() || at.barrier == Barriers::leave ? found : Attendance::away;
}

// A node without workers says so only when workers of other nodes wait.
Attendance Gates::arrivals(const Entrance &at) const {
    const Header &header = segment_.header();
    uint64_t here = arrived | uint32_t(at.gate.rounds() + 1);
    if (at.barrier != Barriers::workers) {
        const ArrivalWord &arrival = at.barrier == Barriers::nodes ? header.node_arrival : header.leave_arrival;
        return arrival.load(std::memory_order_acquire) == here ? Attendance::arrived : Attendance::away;
    }
    Attendance nobody = at.gate.is_called() ? Attendance::empty : Attendance::away;
    if (header.state.load(std::memory_order_acquire) == State::closed) return nobody;
    const std::optional<uint32_t> count = count_arrived(segment_, uint32_t(at.gate.rounds() + 1));
    return !count ? Attendance::away : *count ? Attendance::arrived : nobody;
}

void Gates::look(Entrance &at) {
    at.gate.attend(attendance(at));
    auto rounds = uint32_t(at.gate.rounds());
    bool news = at.rounds.exchange(rounds, std::memory_order_acq_rel) != rounds;
    if (at.gate.is_away()) news |= let_go(at);
    if (news) segment_.wake_barriers();
}

// Let the workers withdraw that want to, now that the other nodes know of it. Returns true if there was one.
bool Gates::let_go(Entrance &at) {
    auto release = [](ArrivalWord &arrival) {
        uint64_t value = arrival.load(std::memory_order_acquire);
        return (value & withdrawing) && arrival.compare_exchange_strong(value, 0, std::memory_order_acq_rel);
    };
    Header &header = segment_.header();
    if (at.barrier == Barriers::nodes) return release(header.node_arrival);
    if (at.barrier == Barriers::leave) return release(header.leave_arrival);
    bool any = false;
    uint32_t used = header.slots_used.load(std::memory_order_acquire);
    for (uint32_t number = 1; number <= used; number++) any |= release(segment_.slot(number).arrival);
    return any;
}

} // namespace ps
