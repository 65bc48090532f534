#include "server/farewells.h"

#include <algorithm>

#include "membership/notes.h"
#include "net/peer.h"
#include "net/refusals.h"
#include "segment/process.h"
#include "wire/notes.h"
#include "worker/loss.h"

namespace ps {

namespace {

constexpr double tell_every = 0.1; // seconds
constexpr double farewell = 0.3; // seconds that the last messages may take to go

Bytes bare_message(const Segment &segment, Kind kind) {
    FrameHeader header = header_from(segment);
    header.kind = kind;
    return FrameWriter(header).take();
}

} // namespace

void Farewells::look_for_losses() {
    for (NodeId node = 0; node < lost_.size(); node++) {
        const Member state = segment_.member(node).state.load(std::memory_order_acquire);
        if (lost_[node] == (state != Member::here)) continue;
        lost_[node] ? welcome(node) : lose(node);
    }
}

void Farewells::welcome(NodeId node) {
    lost_[node] = false;
    gates_.join(node);
    tuning_.join(node);
}

void Farewells::lose(NodeId node) {
    lost_[node] = true;
    awaited_[node] = false;
    tuning_.lose(node);
    gates_.lose(node);
    const bool has_been_there = segment_.member(node).state.load(std::memory_order_acquire) != Member::absent;
    if (tables_ && has_been_there) tables_->lose(node);
}

// A message of a lost node is ignored, but the node is told that it is lost: it may only have been stopped for a while.
// When this node has ended, messages about keys are ignored as well.
bool Farewells::refuse(const FrameHeader &header) {
    Header &node = segment_.header();
    bool has_ended = node.ended.load(std::memory_order_acquire);
    if (is_from_member(segment_, header)) return has_ended && is_about_keys(header.kind);
    if (has_left(segment_, header.from)) return true;
    if (segment_.member(header.from).state.load(std::memory_order_acquire) == Member::absent) {
        if (header.kind == Kind::join) return false;
        if (header.kind != Kind::hello) count_refusal(node, "it comes from a node that has not joined");
        return true;
    }
    if (!may_have_left(segment_, header)) count_refusal(node, "it comes from a node that was lost");
    if (node.on_loss == PS_ON_LOSS_CONTINUE && has_ended) return true; // this node is the one that was lost
    double now = monotonic_seconds();
    if (now - told_[header.from] > tell_every) {
        told_[header.from] = now;
        const auto evidence = Evidence(segment_.member(header.from).evidence.load(std::memory_order_relaxed));
        transport_.reply(name_of_vigil(header.from, header.cluster),
                         encode(Lost{header.from, evidence}, header_from(segment_)));
    }
    return true;
}

void Farewells::take(NodeId from) {
    lose(from);
    transport_.send(from, bare_message(segment_, Kind::noted));
}

// If the nodes do not all end together, the others are told that this one leaves, and answer. So they do not take it
// for lost.
void Farewells::say() {
    bool together = segment_.header().leave_rounds.load(std::memory_order_acquire);
    look_for_losses();
    for (NodeId node = 0; node < lost_.size(); node++) {
        if (node == segment_.header().node || lost_[node]) continue;
        awaited_[node] = !together;
        if (!together) transport_.send(node, bare_message(segment_, Kind::left));
    }
    transport_.linger(farewell);
}

bool Farewells::is_heard() const { return std::count(awaited_.begin(), awaited_.end(), true) == 0; }

} // namespace ps
