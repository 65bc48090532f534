// How rows were used, on a node that lets keys go when it is full (see store/victims.h): one byte for each row, in
// shared memory. Workers write it without a latch, so of two uses at the same moment one may not count. Nothing else
// depends on these bytes.
//
// - lru: the tick of the row's last pull, push or set. A tick passes with each 64th of the keys that there is room for.
// - age: the same of its last push or set, or of its first use.
// - lfu: how often it was used, as a count that grows more and more seldom (R. Morris, "Counting Large Numbers of
//   Events in Small Registers", CACM 1978): n stands for about (1.08^n - 1) / 0.08 uses.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>

#include "mixing.h"
#include "ps.h"
#include "segment/ages.h"
#include "segment/rows.h"

namespace ps {

enum class Eviction : uint32_t { none = PS_EVICT_NONE, lru = PS_EVICT_LRU, lfu = PS_EVICT_LFU, age = PS_EVICT_AGE };

class Uses {
public:
    using Mark = uint8_t;
    static constexpr uint64_t ticks_per_room = 64;

    Uses() = default; // of a node that lets no key go
    Uses(Eviction eviction, char *marks, std::atomic<uint32_t> &ticks)
        : eviction_(eviction), marks_(reinterpret_cast<std::atomic<Mark> *>(marks)), ticks_(&ticks) {}

    bool are_kept() const { return eviction_ != Eviction::none; }
    bool are_counted() const { return eviction_ == Eviction::lfu; }
    bool count(bool is_write) const { return is_write || eviction_ != Eviction::age; } // as a use
    Mark tick() const { return Mark(ticks_->load(std::memory_order_relaxed)); }
    std::atomic<Mark> &mark(Row row) const { return marks_[number_of(row) / HashedRows::row_words]; }
    // Rows with larger ranks go earlier.
    Mark rank(Mark mark, Mark tick) const { return are_counted() ? Mark(UINT8_MAX - mark) : Mark(tick - mark); }

    void begin(Row row) const { // another key has the row now
        if (are_kept()) mark(row).store(are_counted() ? 0 : tick(), std::memory_order_relaxed);
    }
    void renew(Row row) const { // the key was in use until now, elsewhere or by several nodes
        if (are_kept() && !are_counted()) mark(row).store(tick(), std::memory_order_relaxed);
    }

private:
    Eviction eviction_ = Eviction::none;
    std::atomic<Mark> *marks_ = nullptr;
    std::atomic<uint32_t> *ticks_ = nullptr;
};

// What the operations of one batch note.
class UseNotes {
public:
    UseNotes(const Uses &uses, const Ages &ages, bool writes)
        : uses_(uses), ages_(ages), tick_(uses.are_kept() ? uses.tick() : 0),
          notes_(uses.are_kept() && uses.count(writes)), notes_ages_(ages.count(writes)), counts_(uses.are_counted()),
          random_(counts_ ? mix(uint64_t(std::chrono::steady_clock::now().time_since_epoch().count())) : 0) {}

    static constexpr bool are_kept = true;

    void prefetch(Row row) const {
        if (row == no_row) return;
        if (notes_) __builtin_prefetch(&uses_.mark(row));
        if (notes_ages_) __builtin_prefetch(&ages_.mark(row));
    }
    void begin(Row row) const {
        if (notes_ages_) ages_.note(row);
    }
    void note(Row row) { // it was used
        begin(row); // another tick may have passed
        if (!notes_) return;
        std::atomic<Uses::Mark> &mark = uses_.mark(row);
        const Uses::Mark former = mark.load(std::memory_order_relaxed);
        if (!counts_) {
            if (former != tick_) mark.store(tick_, std::memory_order_relaxed);
        } else if (is_drawn(former)) {
            mark.store(Uses::Mark(former + 1), std::memory_order_relaxed);
        }
    }

private:
    // Of 2^32: how often a count becomes one more with a use.
    static constexpr std::array<uint32_t, UINT8_MAX + 1> chances = [] {
        std::array<uint32_t, UINT8_MAX + 1> found{};
        double chance = UINT32_MAX;
        for (size_t count = 0; count < UINT8_MAX; count++, chance /= 1.08) found[count] = uint32_t(chance);
        return found;
    }();

    bool is_drawn(Uses::Mark count) { // a linear congruential generator with D. Knuth's factor for MMIX
        random_ = random_ * 6364136223846793005 + 1442695040888963407;
        return uint32_t(random_ >> 32) < chances[count];
    }

    const Uses &uses_;
    const Ages &ages_;
    const Uses::Mark tick_;
    const bool notes_, notes_ages_, counts_;
    uint64_t random_;
};

struct NoNotes { // of a node that lets no key go
    static constexpr bool are_kept = false;
    void begin(Row) const {}
    void note(Row) const {}
};

} // namespace ps
