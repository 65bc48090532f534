// A hash of one word: each bit of the result depends on all bits of the word, and different words have different
// results (D. Stafford's variant 13 of MurmurHash3's finalizer). The same on every machine.
#pragma once

#include <cstdint>

namespace ps {

constexpr uint64_t mix(uint64_t word) {
    word = (word ^ word >> 30) * 0xbf58476d1ce4e5b9;
    word = (word ^ word >> 27) * 0x94d049bb133111eb;
    return word ^ word >> 31;
}

} // namespace ps
