// When rows were used last, on a node that lets keys go that nobody uses for long (see store/expiry.h): the tick of the
// last use, one byte for each row, in shared memory. Workers write it without a latch. A use counts from the moment at
// which it begins, so who takes a key's latch sees the uses of all that had it before.
//
// The server lets ticks pass, and notes when each began: a key was used last before the tick after its own began. So
// however long a tick takes, no key goes too early. The server also sees to it that no row keeps the byte of a tick
// that comes again.
#pragma once

#include <atomic>
#include <cstdint>

#include "segment/rows.h"

namespace ps {

class Ages {
public:
    using Mark = uint8_t;
    static constexpr uint32_t marks = UINT8_MAX + 1;

    struct Clock { // zeros at first
        std::atomic<uint32_t> ticks; // in all
        std::atomic<double> begun[marks]; // monotonic seconds, by the mark of the tick
    };

    Ages() = default; // of a node where keys may become of any age
    Ages(double most_age, bool counts_pulls, char *clock, char *marks)
        : most_age_(most_age), counts_pulls_(counts_pulls), clock_(reinterpret_cast<Clock *>(clock)),
          marks_(reinterpret_cast<std::atomic<Mark> *>(marks)) {}

    bool are_kept() const { return clock_; }
    double most_age() const { return most_age_; } // seconds
    bool count(bool is_write) const { return are_kept() && (is_write || counts_pulls_); } // as a use
    std::atomic<Mark> &mark(Row row) const { return marks_[number_of(row) / HashedRows::row_words]; }
    void note(Row row) const { // it is used
        if (!are_kept()) return;
        const Mark now = Mark(ticks());
        std::atomic<Mark> &noted = mark(row);
        if (noted.load(std::memory_order_relaxed) != now) noted.store(now, std::memory_order_relaxed);
    }

    void begin(double now) const { clock_->begun[0].store(now, std::memory_order_relaxed); } // the first tick
    uint32_t ticks() const { return clock_->ticks.load(std::memory_order_relaxed); }
    double begun() const { return clock_->begun[Mark(ticks())].load(std::memory_order_relaxed); } // the present tick
    void pass(double now) const { // the next tick begins; only one thread calls it
        const uint32_t next = ticks() + 1;
        clock_->begun[Mark(next)].store(now, std::memory_order_relaxed);
        clock_->ticks.store(next, std::memory_order_release);
    }
    // A row that was used so many ticks ago, or more, was not used for the greatest age. `marks` if there can be none.
    uint32_t too_many_ticks(double now) const {
        const uint32_t last = clock_->ticks.load(std::memory_order_acquire);
        for (uint32_t ago = 1; ago < marks && ago <= last; ago++)
            if (clock_->begun[Mark(last - ago + 1)].load(std::memory_order_relaxed) + most_age_ <= now) return ago;
        return marks;
    }
    uint32_t ticks_since_use(Row row) const { return Mark(ticks() - mark(row).load(std::memory_order_relaxed)); }

private:
    double most_age_ = 0;
    bool counts_pulls_ = true;
    Clock *clock_ = nullptr;
    std::atomic<Mark> *marks_ = nullptr;
};

} // namespace ps
