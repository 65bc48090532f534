// What a server does when nodes are lost, or leave: which messages count, who is told, and the change to a new epoch.
#include <deque>
#include <utility>

#include "net/refusals.h"
#include "net/server.h"
#include "segment/process.h"
#include "wire/notes.h"
#include "worker/loss.h"

namespace ps {

namespace {
constexpr double tell_every = 0.1; // seconds
}

// Intents, and waiting until all is exchanged, are no operations: nobody gives them up with a former epoch.
Crossing::Verdict Server::judge(const FrameHeader &header) const {
    if (header.kind == Kind::holds) return crossing_.judge_crossing(header.from, header.epoch);
    bool lasts = header.kind == Kind::intent || header.kind == Kind::settle;
    if (!is_about_keys(header.kind) && !lasts) return Crossing::Verdict::take;
    bool brings_keys = header.kind == Kind::transfer || header.kind == Kind::moves;
    return crossing_.judge(header.from, lasts ? crossing_.epoch() : header.epoch, brings_keys);
}

// Other nodes were lost; see crossing.h. Whoever waits for an operation of a former epoch knows that from shared
// memory.
void Server::begin_epoch(const Vigil::Epoch &epoch) {
    mailbox_.flush();
    crossing_.begin(epoch.number, epoch.members);
    mailbox_.begin_epoch(epoch.number);
    waiters_.clear();
    admitted_ = 0;
    protocol_.begin_epoch(epoch.members);
    say_to_members(HoldsBatch::Phase::mark);
    take_again(&held_);
    receive(segment_->header().node, HoldsBatch{HoldsBatch::Phase::mark, false, 0, {}});
}

void Server::say_to_members(HoldsBatch::Phase phase) {
    FrameHeader header = header_from(*segment_);
    header.epoch = crossing_.epoch();
    for (NodeId node : protocol_.home_rule().members())
        if (node != header.from) peers_.send(node, HoldsBatch{phase, false, header.from, {}}.encode(header));
}

void Server::receive(NodeId from, const HoldsBatch &batch) {
    switch (batch.phase) {
    case HoldsBatch::Phase::report:
        each_by_itself(batch.keys, [&](size_t i) { protocol_.receive(batch.keys[i], Holds{batch.node, batch.lost}); });
        break;
    case HoldsBatch::Phase::mark:
        if (!crossing_.mark(from)) break;
        protocol_.report();
        mailbox_.flush();
        say_to_members(HoldsBatch::Phase::done);
        receive(segment_->header().node, HoldsBatch{HoldsBatch::Phase::done, false, 0, {}});
        break;
    case HoldsBatch::Phase::done:
        if (!crossing_.done(from)) break;
        protocol_.settle(NodeId(segment_->header().lost_last.load(std::memory_order_acquire)));
        mailbox_.flush();
        take_again(&held_);
    }
}

// What a lost node sends changes nothing; it is told so, for it may only have been stopped. Nothing about keys is done
// any more when this node has ended.
bool Server::refuse(const FrameHeader &header) {
    if (is_member(*segment_, header.from))
        return segment_->header().ended.load(std::memory_order_acquire) && is_about_keys(header.kind);
    count_refusal(segment_->header(), "it comes from a node that was lost");
    bool is_out = segment_->header().on_loss == PS_ON_LOSS_CONTINUE &&
                  segment_->header().ended.load(std::memory_order_acquire);
    if (is_out) return true; // it is this node that was lost
    double now = monotonic_seconds();
    if (now - told_[header.from] > tell_every) {
        told_[header.from] = now;
        auto evidence = Evidence(segment_->member(header.from).evidence.load(std::memory_order_relaxed));
        routers_.send(name_of_vigil(header.from, header.cluster),
                      encode(Lost{header.from, evidence}, header_from(*segment_)));
    }
    return true;
}

// A node says that it ends, and waits until it is heard.
void Server::take_leave(NodeId from) {
    vigil_->left(from);
    lose(from);
    FrameHeader noted = header_from(*segment_);
    noted.kind = Kind::noted;
    peers_.send(from, FrameWriter(noted).take());
}

// Nodes that the vigil found lost are not waited for any more.
void Server::look_for_losses() {
    for (NodeId node = 0; node < lost_.size(); node++)
        if (!lost_[node] && segment_->member(node).state.load(std::memory_order_acquire) != Member::here) lose(node);
}

// The node is not waited for any more.
void Server::lose(NodeId node) {
    lost_[node] = true;
    awaited_[node] = false;
    gates_.lose(node);
}

} // namespace ps
