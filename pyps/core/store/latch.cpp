#include "store/latch.h"

#include <sched.h>
#include <time.h>

#include <algorithm>

#include "counting.h"
#include "errors.h"
#include "segment/identity.h"
#include "worker/loss.h"

namespace ps {

namespace {

constexpr int short_spins = 300; // about as long as a push of some hundred elements holds a latch
constexpr int yields = 8;
constexpr long first_nap_ns = 20'000, longest_nap_ns = 1'000'000;

void pause_briefly() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

// First let the holder run, which may be waiting for the processor; then sleep, longer each time.
void back_off(int round) {
    if (round < yields) {
        sched_yield();
        return;
    }
    long nap = std::min(longest_nap_ns, first_nap_ns << std::min(round - yields, 10));
    timespec duration{0, nap};
    nanosleep(&duration, nullptr);
}

} // namespace

bool Latches::contend(Row row, Patience patience, Place *place) {
    Entry &entry = segment_.entry(row);
    for (int spin = 0; spin < short_spins; spin++) {
        Place seen(entry.load(std::memory_order_relaxed));
        if (!seen.is_held() && seize(row, seen, place)) return true;
        pause_briefly();
    }
    if (patience == Patience::try_briefly) return false;
    double start = monotonic_seconds(), timeout = segment_.header().latch_timeout;
    for (int round = 0;; round++) {
        Place seen(entry.load(std::memory_order_acquire));
        if (!seen.is_held()) {
            if (!seize(row, seen, place)) continue;
            break;
        }
        if (round >= yields / 2 && is_dead(seen.holder())) {
            if (!seize(row, seen, place)) continue;
            restore(row, *place);
            break;
        }
        if (patience == Patience::give_way && round >= yields) return false;
        double waited = monotonic_seconds() - start;
        require_open(segment_);
        if (waited > timeout) {
            record_wait(waited);
            uint32_t holder = slot_of(seen.holder());
            uint64_t key = segment_.key(row);
            fail(PS_ETIMEDOUT, Where{-1, int64_t(key), 0},
                 "key %lld has been held for %.1f s by worker %u of process %u, which lives but does not move "
                 "(stopped?)",
                 static_cast<long long>(key), waited, holder, identity_of(segment_.slot(holder)).process.pid);
        }
        back_off(round);
    }
    record_wait(monotonic_seconds() - start);
    return true;
}

bool Latches::seize(Row row, Place seen, Place *place) {
    if (!take(row, seen)) return false;
    *place = seen.is_held() ? begin_versions_anew(seen) : seen;
    return true;
}

bool Latches::is_dead(Holder holder) const {
    Identity owner = identity_of(segment_.slot(slot_of(holder)));
    return owner.epoch != epoch_of(holder) || !owner.is_alive();
}

// Put back the value that a dead holder had begun to change. This worker holds the latch now.
void Latches::restore(Row row, Place place) {
    Header &header = segment_.header();
    header.recovered.fetch_add(1, std::memory_order_relaxed);
    if (!place.is_here()) return;
    const LengthClass &c = segment_.length_class(place.length_class());
    bool shared = place.residence() == Residence::shared;
    char *to = shared ? reinterpret_cast<char *>(segment_.shared(c, place.index())) : segment_.value(c, place.index());
    uint32_t used = header.slots_used.load(std::memory_order_acquire);
    for (uint32_t number = 1; number <= used; number++) {
        WorkerSlot &slot = segment_.slot(number);
        if (slot.undo_row.load(std::memory_order_acquire) != number_of(row) + 1) continue;
        std::memcpy(to, segment_.undo(number), shared ? c.shared_bytes : c.whole_bytes);
        slot.undo_row.store(0, std::memory_order_release);
        header.restored.fetch_add(1, std::memory_order_relaxed);
    }
}

void Latches::record_wait(double seconds) {
    slot_.counters.waits.fetch_add(1, std::memory_order_relaxed);
    raise_to(slot_.longest.wait_ns, int64_t(seconds * 1e9));
}

} // namespace ps
