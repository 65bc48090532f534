// The tags of a bucket of twelve slots (see rows.h), which are all compared at the same time: by a vector instruction
// if every processor of this architecture has one, else as words.
#pragma once

#include <atomic>
#include <cstdint>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace ps {

using Tag = uint8_t;

// The slots with a tag, as bits for first_of(). Other slots may be among them, but never as the first (after A.
// Mycroft's test for a byte that is zero). Slot n has bit 8n, or 8(n - 8) + 4 for the last four.
struct ComparedInWords {
    static uint64_t with(uint64_t low, uint64_t high, Tag tag) {
        constexpr uint64_t ones = 0x0101010101010101;
        low ^= ones * tag;
        high ^= ones * tag;
        return ((low - ones) & ~low & ones << 7) >> 7 | ((high - ones) & ~high & uint64_t(0x80808080)) >> 3;
    }
    static uint32_t first_of(uint64_t bits) {
        const auto at = uint32_t(__builtin_ctzll(bits));
        return at / 8 + (at & 4) * 2;
    }
};

#if defined(__SSE2__)
struct ComparedAsVector { // slot n has bit n
    static uint64_t with(uint64_t low, uint64_t high, Tag tag) {
        const __m128i equal = _mm_cmpeq_epi8(_mm_set_epi64x(int64_t(high), int64_t(low)), _mm_set1_epi8(char(tag)));
        return uint64_t(_mm_movemask_epi8(equal)) & 0xfff;
    }
    static uint32_t first_of(uint64_t bits) { return uint32_t(__builtin_ctzll(bits)); }
};
using Compared = ComparedAsVector;
#else
using Compared = ComparedInWords;
#endif

class Tags {
public:
    static constexpr uint32_t slots = 12;

    uint64_t with(Tag tag) const {
        return Compared::with(words_[0].load(std::memory_order_acquire), words_[1].load(std::memory_order_acquire),
                              tag);
    }
    static uint32_t first_of(uint64_t bits) { return Compared::first_of(bits); }
    Tag at(uint32_t slot) const { return Tag(words_[slot / 8].load(std::memory_order_relaxed) >> slot % 8 * 8); }
    void set(uint32_t slot, Tag tag) { // one thread at a time may write
        std::atomic<uint64_t> &word = words_[slot / 8];
        const uint64_t before = word.load(std::memory_order_relaxed), at = slot % 8 * 8;
        word.store((before & ~(uint64_t(0xff) << at)) | uint64_t(tag) << at, std::memory_order_release);
    }

private:
    std::atomic<uint64_t> words_[2]; // a byte per slot, the lowest first
};

} // namespace ps
