// Which keys that are shared with other nodes were changed since the server last looked. In shared memory: a bit per
// row, a bit per word of these bits, and so on up to a single word. So the server sees in one word whether there are
// any, and finds them without looking at the rest.
//
// A writer sets bits from the row's own upwards, the server takes them from the top downwards. So a bit that is set
// while the server looks is found now, or in the next round. A worker that dies on the way up leaves bits that the
// server cannot find; the next change of the same row or word sets the bits above them again.
#pragma once

#include <atomic>
#include <cstdint>

#include "segment/rows.h"

namespace ps {

class Changes {
public:
    static uint64_t bytes(uint64_t rows) {
        uint64_t words = 0;
        for (uint64_t bits = rows, level = 0; level == 0 || bits > 1; level++) words += bits = words_of(bits);
        return words * sizeof(Word);
    }

    // Bytes of the lowest level, one bit per row, which comes first.
    static uint64_t lowest_bytes(uint64_t rows) { return words_of(rows) * sizeof(Word); }

    Changes() = default;
    Changes(char *memory, uint64_t rows) { // zeroed memory has no changes
        auto *at = reinterpret_cast<Word *>(memory);
        for (uint64_t bits = rows; depth_ == 0 || bits > 1;) {
            levels_[depth_++] = at;
            at += bits = words_of(bits);
        }
    }

    void note(Row row) const {
        uint64_t at = number_of(row);
        for (int level = 0; level < depth_; level++, at /= 64) {
            Word &word = levels_[level][at / 64];
            uint64_t bit = uint64_t(1) << at % 64;
            if (!(word.load() & bit)) word.fetch_or(bit);
        }
    }

    bool any() const { return levels_[depth_ - 1]->load() != 0; }

    template <class Body>
    void take(Body &&body) const { // calls body(row) in the order of the rows
        if (any()) take(depth_ - 1, 0, body);
    }

private:
    using Word = std::atomic<uint64_t>;

    static uint64_t words_of(uint64_t bits) { return (bits + 63) / 64; }

    template <class Body>
    void take(int level, uint64_t word, Body &body) const {
        for (uint64_t bits = levels_[level][word].exchange(0); bits; bits &= bits - 1) {
            uint64_t found = word * 64 + uint64_t(__builtin_ctzll(bits));
            if (level == 0)
                body(Row{found});
            else
                take(level - 1, found, body);
        }
    }

    Word *levels_[11] = {}; // enough for 2^64 rows
    int depth_ = 0;
};

} // namespace ps
