#include "server/epoch_change.h"

#include "net/refusals.h"

namespace ps {

namespace {
HoldsBatch step_of(NodeId node, HoldsBatch::Phase phase) {
    HoldsBatch step;
    step.node = node;
    step.phase = phase;
    return step;
}
} // namespace

// Intents, and questions whether all is settled, are no operations. Workers do not give them up when an epoch ends, so
// they are taken as if they belonged to the present one.
Crossing::Verdict EpochChange::judge(const FrameHeader &header) const {
    if (header.kind == Kind::holds) return crossing_.judge_crossing(header.from, header.epoch);
    bool lasts = header.kind == Kind::intent || header.kind == Kind::settle;
    bool belongs = is_about_keys(header.kind) || header.kind == Kind::news || header.kind == Kind::trial;
    if (!belongs && !lasts) return Crossing::Verdict::take;
    bool brings_keys = header.kind == Kind::transfer || header.kind == Kind::moves;
    return crossing_.judge(header.from, lasts ? crossing_.epoch() : header.epoch, brings_keys);
}

// Workers that wait for operations of a former epoch learn from shared memory that these have failed.
void EpochChange::begin(const Vigil::Epoch &epoch) {
    if (protocol_.is_empty()) return protocol_.go_at_once(); // the others will begin one without this node
    mailbox_.flush();
    crossing_.begin(epoch.number, epoch.members);
    mailbox_.begin_epoch(epoch.number);
    serving_.forget_waiters();
    protocol_.begin_epoch(epoch.members);
    tell_members(HoldsBatch::Phase::mark);
    take_held_back_();
    take_own(HoldsBatch::Phase::mark);
}

void EpochChange::tell_members(HoldsBatch::Phase phase) {
    const FrameHeader &header = mailbox_.header();
    for (NodeId node : protocol_.home_rule().members())
        if (node != header.from) outbound_.send(node, step_of(header.from, phase).encode(header));
}

// Does for this node what a message does for another member.
void EpochChange::take_own(HoldsBatch::Phase phase) {
    auto self = NodeId(segment_.header().node);
    receive(self, step_of(self, phase));
}

void EpochChange::receive(NodeId from, const HoldsBatch &batch) {
    switch (batch.phase) {
    case HoldsBatch::Phase::report:
        take_each(segment_.header(), batch.keys, [&](size_t i) {
            uint64_t backup = batch.versions.empty() ? 0 : batch.versions[i];
            protocol_.receive(batch.keys[i], Holds{batch.node, batch.lost, backup});
        });
        break;
    case HoldsBatch::Phase::mark:
        if (!crossing_.mark(from)) break;
        protocol_.report();
        mailbox_.flush();
        tell_members(HoldsBatch::Phase::done);
        take_own(HoldsBatch::Phase::done);
        break;
    case HoldsBatch::Phase::done:
        if (!crossing_.done(from)) break;
        protocol_.settle(NodeId(segment_.header().lost_last.load(std::memory_order_acquire)));
        mailbox_.flush();
        take_held_back_();
    }
}

} // namespace ps
