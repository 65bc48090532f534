// A key's latch, kept in its directory entry. It names its holder, and whoever writes a value keeps the former one in
// an undo area until it is done: so the next one that meets the latch of a dead worker puts the value back and goes on.
//
// A worker holds one latch at a time. What survives a SIGKILL at any instruction:
// - at_row is written before the latch is taken, so a dead worker's latch is at at_row or nowhere;
// - undo_row is written when the undo area is complete, before the value changes, and cleared when that is complete;
// - only the holder of a key's latch sets or clears an undo_row that names the key's row, its own or a dead worker's.
//   So at most one undo area belongs to a key, also when those who recover die too.
//
// Who only reads a value takes no latch (Glance): so readers do not wait for each other, nor make each other's caches
// give up the latch's line. Each release gives the latch its next version. A version is met again after 2^17 releases,
// and a latch that was taken from a dead holder has lost its own: both are counted in the header's version_turns before
// the latch is free, so a reader that finds that count unchanged has not met a former version again.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

#include "segment/segment.h"

namespace ps {

// try_briefly: about as long as a push takes. give_way: also until a holder that is ready to run has had the processor,
// and what a dead holder has left is put in order. wait: until the latch timeout.
enum class Patience { try_briefly, give_way, wait };

class Latches {
public:
    Latches(Segment &segment, Holder me)
        : segment_(segment), slot_(segment.slot(slot_of(me))), undo_(segment.undo(slot_of(me))), me_(me) {}

    // Take the latch of a row's key. False: busy, never with Patience::wait. Throws PS_ETIMEDOUT, PS_ECLOSED.
    bool acquire(Row row, Patience patience, Place *place) {
        slot_.at_row.store(number_of(row) + 1, std::memory_order_relaxed);
        Place seen(segment_.entry(row).load(std::memory_order_relaxed));
        if (__builtin_expect(!seen.is_held(), 1) && take(row, seen)) {
            *place = seen;
            return true;
        }
        return contend(row, patience, place);
    }

    // With the place that acquire() gave, or what became of it.
    void release(Row row, Place place) {
        uint64_t next = place.word() + 1;
        if (__builtin_expect(place.version() == versions - 1, 0)) next = begin_versions_anew(place).word();
        segment_.entry(row).store(next, std::memory_order_release);
    }

    // Between these two the holder of the key's latch may change its value.
    void keep_for_undo(Row row, const char *value, uint64_t bytes) {
        std::memcpy(undo_, value, bytes);
        slot_.undo_row.store(number_of(row) + 1, std::memory_order_release);
        std::atomic_thread_fence(std::memory_order_release); // no write to the value comes before
    }
    void drop_undo() { slot_.undo_row.store(0, std::memory_order_release); }

private:
    bool take(Row row, Place seen) {
        uint64_t word = seen.word();
        bool taken = segment_.entry(row).compare_exchange_strong(word, seen.held_by(me_).word(),
                                                                 std::memory_order_acq_rel, std::memory_order_relaxed);
        std::atomic_thread_fence(std::memory_order_release); // what is written under the latch is not seen before it
        return taken;
    }
    Place begin_versions_anew(Place place) {
        segment_.header().version_turns.fetch_add(1, std::memory_order_relaxed);
        return place.with_version(0);
    }
    bool contend(Row row, Patience patience, Place *place);
    bool seize(Row row, Place seen, Place *place);
    bool is_dead(Holder holder) const;
    void restore(Row row, Place place);
    void record_wait(double seconds);

    Segment &segment_;
    WorkerSlot &slot_;
    char *undo_;
    Holder me_;
};

// A look at a key's place and value without the latch: what was read of the value since the glance began is whole, and
// was there then, if it `was_steady`.
class Glance {
public:
    Glance(const Segment &segment, Row row)
        : turns_(segment.header().version_turns), entry_(segment.entry(row)),
          turns_before_(turns_.load(std::memory_order_acquire)), place_(entry_.load(std::memory_order_acquire)) {}

    Place place() const { return place_; }
    bool was_steady() const {
        std::atomic_thread_fence(std::memory_order_acquire); // the value is read before
        return !place_.is_held() && entry_.load(std::memory_order_acquire) == place_.word() &&
               turns_.load(std::memory_order_relaxed) == turns_before_;
    }

private:
    const std::atomic<uint64_t> &turns_;
    const Entry &entry_;
    const uint64_t turns_before_;
    const Place place_;
};

} // namespace ps
