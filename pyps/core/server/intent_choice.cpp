#include "server/intent_choice.h"

#include <utility>

#include "worker/workers.h"

namespace ps {

IntentChoice::IntentChoice(Segment &segment, Outbound &outbound, const Mailbox &mailbox, std::vector<NodeId> members)
    : header_(segment.header()), segment_(segment), outbound_(outbound), mailbox_(mailbox),
      trials_(NodeId(header_.node), std::move(members), *this) {}

void IntentChoice::look_at_clocks(double now) {
    const auto told_ahead = uint64_t(header_.told_ahead.load(std::memory_order_relaxed));
    if (told_ahead == 0) return; // nobody has told of a short intent yet
    uint64_t clocks = 0, workers = 0;
    for (uint32_t number = 1; number <= header_.slots_used.load(std::memory_order_acquire); number++) {
        const WorkerSlot &slot = segment_.slot(number);
        clocks += slot.clock.load(std::memory_order_relaxed);
        workers += identity_of(slot).is_taken();
    }
    trials_.observe(now, clocks, workers * told_ahead, header_.worker_rounds.load(std::memory_order_relaxed));
    note();
}

void IntentChoice::receive(double now, NodeId from, const TrialMessage &message) {
    trials_.receive(now, from, message.note);
    note();
}

void IntentChoice::begin_epoch(std::vector<NodeId> members) {
    trials_.begin_epoch(std::move(members));
    note();
}

void IntentChoice::tell(NodeId to, const TrialNote &note) {
    outbound_.send(to, TrialMessage{note}.encode(mailbox_.header()));
}

void IntentChoice::note() { header_.skips_intents.store(!trials_.acts(), std::memory_order_relaxed); }

} // namespace ps
