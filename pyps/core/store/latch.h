// A key's latch, kept in its directory entry. It names its holder, and whoever writes a value keeps the former one in
// an undo area until it is done: so the next one that meets the latch of a dead worker puts the value back and goes on.
//
// A worker holds one latch at a time. What survives a SIGKILL at any instruction:
// - at_row is written before the latch is taken, so a dead worker's latch is at at_row or nowhere;
// - undo_row is written when the undo area is complete, before the value changes, and cleared when that is complete;
// - only the holder of a key's latch sets or clears an undo_row that names the key's row, its own or a dead worker's.
//   So at most one undo area belongs to a key, also when those who recover die too.
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
        Entry &entry = segment_.entry(row);
        uint64_t word = entry.load(std::memory_order_relaxed);
        if (__builtin_expect(Place(word).holder() == nobody, 1) &&
            entry.compare_exchange_strong(word, Place(word).held_by(me_).word(), std::memory_order_acq_rel,
                                          std::memory_order_relaxed)) {
            *place = Place(word);
            return true;
        }
        return contend(row, patience, place);
    }

    void release(Row row, Place place) {
        segment_.entry(row).store(place.held_by(nobody).word(), std::memory_order_release);
    }

    // Between these two the holder of the key's latch may change its value.
    void keep_for_undo(Row row, const char *value, uint64_t bytes) {
        std::memcpy(undo_, value, bytes);
        slot_.undo_row.store(number_of(row) + 1, std::memory_order_release);
        std::atomic_thread_fence(std::memory_order_release); // no write to the value comes before
    }
    void drop_undo() { slot_.undo_row.store(0, std::memory_order_release); }

private:
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

} // namespace ps
