#include "worker/workers.h"

#include "errors.h"
#include "store/latch.h"

namespace ps {

namespace {

// Bytes; a dead worker's undo area that is smaller is not looked for, which takes some microseconds.
constexpr uint64_t worth_giving_back = 1 << 16;

void start_from_zero(WorkerSlot &slot, Role role) {
    slot.is_aside.store(role == Role::aside, std::memory_order_relaxed);
    slot.clock.store(0, std::memory_order_relaxed);
    slot.arrival.store(0, std::memory_order_relaxed);
    slot.in_setup.store(0, std::memory_order_relaxed);
    slot.pending.store(0, std::memory_order_relaxed);
    slot.longest.wait_ns.store(0, std::memory_order_relaxed);
    slot.longest.remote_ns.store(0, std::memory_order_relaxed);
}

// Make a slot this process's own if it still belongs to `former`. If that is a dead worker, what it held is free
// afterwards: taking the latch at at_row recovers from its death, and then nothing needs its undo area. If this process
// dies meanwhile, the slot's next owner does the same again. With Patience::give_way, a slot whose latch another worker
// holds stays as it is, and this returns false.
bool claim(Segment &segment, uint32_t number, Identity former, Process self, Patience patience, Holder *me) {
    WorkerSlot &slot = segment.slot(number);
    Identity mine{self, (former.epoch + 1) % epochs};
    uint64_t word = former.word();
    if (!slot.identity.compare_exchange_strong(word, mine.word(), std::memory_order_acq_rel)) return false;
    uint32_t used = segment.header().slots_used.load(std::memory_order_relaxed);
    while (used < number &&
           !segment.header().slots_used.compare_exchange_weak(used, number, std::memory_order_acq_rel)) {
    }
    slot.arrival.store(0, std::memory_order_relaxed);
    *me = make_holder(number, mine.epoch);
    uint64_t at_row = slot.at_row.load(std::memory_order_relaxed);
    if (at_row && (former.is_taken() || slot.undo_row.load(std::memory_order_acquire))) {
        Latches latches(segment, *me);
        Place place(0);
        try {
            if (!latches.acquire(Row{at_row - 1}, patience, &place)) {
                slot.identity.store(former.word(), std::memory_order_release);
                return false;
            }
        } catch (...) {
            leave(segment, *me); // the slot's next owner finds an undo area that is still needed
            throw;
        }
        latches.release(Row{at_row - 1}, place);
    }
    if (former.is_taken()) segment.header().reclaimed.fetch_add(1, std::memory_order_relaxed);
    return true;
}

void commit_undo(Segment &segment, uint32_t number) {
    uint64_t bytes = segment.header().undo_bytes;
    segment.mapping().commit(segment.header().undo_at + (number - 1) * bytes, bytes);
}

// Keeps it while a value may have to be put back from it. While undo_row is 0 no other process reads the area, and only
// this slot's owner writes it.
void discard_undo(Segment &segment, uint32_t number) {
    if (segment.slot(number).undo_row.load(std::memory_order_acquire)) return;
    uint64_t bytes = segment.header().undo_bytes;
    segment.mapping().discard(segment.header().undo_at + (number - 1) * bytes, bytes);
}

bool claim_any(Segment &segment, Process self, bool dead, Holder *me) {
    for (uint32_t number = 1; number <= segment.header().max_workers; number++) {
        Identity owner = identity_of(segment.slot(number));
        if (dead ? owner.is_taken() && !owner.is_alive() : !owner.is_taken())
            if (claim(segment, number, owner, self, Patience::wait, me)) return true;
    }
    return false;
}

} // namespace

Holder join(Segment &segment, uint32_t *ordinal, Role role) {
    Process self = Process::self();
    Holder me = 0;
    if (!claim_any(segment, self, false, &me) && !claim_any(segment, self, true, &me)) {
        uint32_t limit = segment.header().max_workers;
        fail(PS_EWORKERS, Where{-1, limit, limit},
             "all %u worker slots are taken by living workers: finalize some, or raise max_workers", limit);
    }
    uint32_t number = slot_of(me);
    try {
        if (segment.header().undo_bytes >= worth_giving_back) reclaim_dead(segment);
        commit_undo(segment, number);
    } catch (...) {
        leave(segment, me);
        throw;
    }
    start_from_zero(segment.slot(number), role);
    if (role == Role::aside) segment.header().joined_aside.fetch_add(1, std::memory_order_acq_rel);
    uint64_t before = segment.header().joined.fetch_add(1, std::memory_order_acq_rel);
    if (ordinal) *ordinal = uint32_t(before + 1);
    if (segment.header().has_server()) segment.doorbell().ring(); // the barriers must now wait for this worker as well
    return me;
}

Holder join_as_server(Segment &segment, uint32_t channel) {
    uint32_t number = segment.server_slot(channel);
    commit_undo(segment, number);
    Identity mine{Process::self(), (identity_of(segment.slot(number)).epoch + 1) % epochs};
    segment.slot(number).identity.store(mine.word(), std::memory_order_release);
    return make_holder(number, mine.epoch);
}

void leave(Segment &segment, Holder me) {
    discard_undo(segment, slot_of(me));
    segment.slot(slot_of(me)).identity.store(Identity{{}, epoch_of(me)}.word(), std::memory_order_release);
}

uint32_t reclaim_dead(Segment &segment) {
    Process self = Process::self();
    uint32_t freed = 0, used = segment.header().slots_used.load(std::memory_order_acquire);
    for (uint32_t number = 1; number <= used; number++) {
        Identity owner = identity_of(segment.slot(number));
        Holder me;
        if (!owner.is_taken() || owner.is_alive()) continue;
        if (!claim(segment, number, owner, self, Patience::give_way, &me)) continue;
        leave(segment, me);
        freed++;
    }
    return freed;
}

std::optional<uint32_t> count_arrived(const Segment &segment, uint32_t round) {
    const Header &header = segment.header();
    const uint64_t joined = header.joined.load(std::memory_order_acquire);
    if (joined - header.joined_aside.load(std::memory_order_acquire) < header.num_workers) return std::nullopt;
    uint32_t used = header.slots_used.load(std::memory_order_acquire), count = 0;
    for (uint32_t number = 1; number <= used; number++) {
        WorkerSlot &slot = segment.slot(number);
        if (!identity_of(slot).is_taken() || slot.is_aside.load(std::memory_order_acquire)) continue;
        if (slot.arrival.load(std::memory_order_acquire) != (arrived | round)) return std::nullopt;
        count++;
    }
    return count;
}

uint32_t count_workers(const Segment &segment) {
    uint32_t count = 0, used = segment.header().slots_used.load(std::memory_order_acquire);
    for (uint32_t number = 1; number <= used; number++) count += identity_of(segment.slot(number)).is_alive();
    return count;
}

int64_t count_pending(const Segment &segment) {
    int64_t count = 0;
    const uint32_t used = segment.header().slots_used.load(std::memory_order_acquire);
    for (uint32_t number = 1; number <= used; number++) {
        const uint32_t pending = segment.slot(number).pending.load(std::memory_order_relaxed);
        if (pending && identity_of(segment.slot(number)).is_alive()) count += pending;
    }
    return count;
}

uint32_t count_free(const Segment &segment) {
    uint32_t count = 0;
    for (uint32_t number = 1; number <= segment.header().max_workers; number++)
        count += !identity_of(segment.slot(number)).is_taken();
    return count;
}

} // namespace ps
