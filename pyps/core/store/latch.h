// A key's latch, kept in its directory entry. It names its holder. A holder that changes a value keeps the former one
// in an undo area until the change is complete. So the next process that finds the latch of a dead worker puts the
// former value back and goes on.
//
// A worker holds one latch at a time. What makes this survive a SIGKILL at any instruction:
// - at_row is written before the latch is taken, so a dead worker's latch is at at_row or nowhere.
// - undo_row is written when the undo area is complete, before the value changes, and cleared when the change is
//   complete.
// - Only the holder of a key's latch sets or clears an undo_row that names the key's row, in its own slot or a dead
//   worker's. So at most one undo area belongs to a key, even if processes that recover die too.
//
// A reader takes no latch (Glance), so readers do not wait for each other, nor take the cache line of the latch from
// each other. Each release gives the latch its next version. A version can come again in two cases: after 2^17
// releases, and when a latch is taken from a dead holder, whose version is lost. In both cases the header's
// version_turns is raised before the latch is free, so if a reader finds it unchanged, the version has not come again.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstring>

#include "segment/segment.h"

namespace ps {

// How long to wait for a latch. try_briefly: about as long as a push takes. give_way: until the holder, if it is ready
// to run, has had the processor, and long enough to recover from a dead holder. wait: until the latch timeout.
enum class Patience { try_briefly, give_way, wait };

class Latches {
public:
    Latches(Segment &segment, Holder me)
        : segment_(segment), slot_(segment.slot(slot_of(me))), undo_(segment.undo(slot_of(me))), me_(me) {}

    // Take the latch of a row's key. False: it is busy (never with Patience::wait). Throws PS_ETIMEDOUT, PS_ECLOSED.
    bool acquire(Row row, Patience patience, Place *place) {
        slot_.at_row.store(number_of(row) + 1, std::memory_order_relaxed);
        Place seen(segment_.entry(row).load(std::memory_order_relaxed));
        if (__builtin_expect(!seen.is_held(), 1) && take(row, seen)) {
            *place = seen;
            return true;
        }
        return contend(row, patience, place);
    }

    // `place`: what acquire() gave, or what it was changed to.
    void release(Row row, Place place) {
        uint64_t next = place.word() + 1;
        if (__builtin_expect(place.version() == versions - 1, 0)) next = begin_versions_anew(place).word();
        segment_.entry(row).store(next, std::memory_order_release);
    }

    // Between these two calls the holder of a key's latch may change the key's value.
    void keep_for_undo(Row row, const char *value, uint64_t bytes) {
        std::memcpy(undo_, value, bytes);
        slot_.undo_row.store(number_of(row) + 1, std::memory_order_release);
        std::atomic_thread_fence(std::memory_order_release); // no write to the value may become visible before
    }
    void drop_undo() { slot_.undo_row.store(0, std::memory_order_release); }

private:
    bool take(Row row, Place seen) {
        uint64_t word = seen.word();
        bool taken = segment_.entry(row).compare_exchange_strong(word, seen.held_by(me_).word(),
                                                                 std::memory_order_acq_rel, std::memory_order_relaxed);
        // Nothing that is written under the latch becomes visible before it.
        std::atomic_thread_fence(std::memory_order_release);
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

// Reads a key's place and value without the latch. If it was_steady() afterwards, what was read since the glance began
// was a whole value.
class Glance {
public:
    Glance(const Segment &segment, Row row)
        : turns_(segment.header().version_turns), entry_(segment.entry(row)),
          turns_before_(turns_.load(std::memory_order_acquire)), place_(entry_.load(std::memory_order_acquire)) {}

    Place place() const { return place_; }
    bool was_steady() const {
        std::atomic_thread_fence(std::memory_order_acquire); // the value must be read before
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
