#include "gate.h"

#include <algorithm>

namespace ps {

Gate::Gate(NodeId self, NodeId nodes, Post &post)
    : self_(self), post_(post), lost_(nodes), attendances_(nodes, Attendance::away), serials_(nodes) {}

void Gate::attend(Attendance attendance) {
    if (attendance == told_) return;
    told_ = attendance;
    tell();
}

void Gate::tell() {
    Attend message{rounds_ + 1, ++serial_, told_};
    if (is_host()) {
        heard_ = serial_;
        receive(self_, message);
    } else {
        post_.send(host_, message);
    }
}

// Also called before this node knows that it is the host now: another node may learn that first.
void Gate::receive(NodeId from, const Attend &message) {
    if (lost_[from]) return;
    serials_[from] = message.serial;
    // The sender will hear that this round is over; the host tells it again, as the message may be lost.
    if (message.round <= rounds_) {
        if (is_host()) open_to(from);
        return;
    }
    if (message.round > rounds_ + 1) { // a former host has opened the gate
        begin_round(message.round - 1);
        if (is_host()) open_to_all();
    }
    attendances_[from] = message.attendance;
    if (!is_host()) return;
    if (message.attendance == Attendance::away) open_to(from);
    consider();
}

void Gate::receive(NodeId from, const Opened &message) {
    if (lost_[from]) return;
    if (message.rounds > rounds_) begin_round(message.rounds);
    heard_ = std::max(heard_, message.serial);
    if (!is_host()) called_ = message.is_called;
}

void Gate::begin_round(uint64_t rounds) {
    rounds_ = rounds;
    told_ = Attendance::away;
    heard_ = serial_;
    called_ = false;
    std::fill(attendances_.begin(), attendances_.end(), Attendance::away);
}

// On the host: ends the round if it is complete, and tells the nodes that have not arrived that others wait.
void Gate::consider() {
    bool complete = true, called = false;
    for (NodeId node = 0; node < attendances_.size(); node++) {
        if (lost_[node]) continue;
        complete &= attendances_[node] != Attendance::away;
        called |= attendances_[node] == Attendance::arrived;
    }
    if (complete && called) {
        begin_round(rounds_ + 1);
        open_to_all();
    } else if (called != called_) {
        called_ = called;
        for (NodeId node = 0; node < attendances_.size(); node++)
            if (attendances_[node] != Attendance::arrived) open_to(node);
    }
}

// The host tells it how many rounds are over.
void Gate::join(NodeId node) {
    lost_[node] = false;
    attendances_[node] = Attendance::away;
    serials_[node] = 0;
    if (is_host()) open_to(node);
}

void Gate::open_to(NodeId node) {
    if (node != self_ && !lost_[node]) post_.send(node, Opened{rounds_, serials_[node], called_});
}

void Gate::open_to_all() {
    for (NodeId node = 0; node < attendances_.size(); node++) open_to(node);
}

void Gate::repeat() {
    if (!is_host()) post_.send(host_, Attend{rounds_ + 1, serial_, told_});
}

void Gate::lose(NodeId node) {
    lost_[node] = true;
    attendances_[node] = Attendance::away;
    if (node == host_) {
        while (host_ + 1u < lost_.size() && lost_[host_]) host_++;
        called_ = false;
        if (is_host()) open_to_all();
        tell(); // the new host may not know the last rounds that the former one opened
    }
    if (is_host()) consider();
}

} // namespace ps
