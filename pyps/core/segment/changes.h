// Which keys shared with other nodes were changed since the server looked: a bit per key, a bit per word of these, and
// so on up to one word, in shared memory. Whoever looks finds nothing in one word, and what there is without passing by
// the rest.
//
// A bit is set from the key's own upwards, and taken from the top downwards. So one that was set while the server looks
// is found now or stays to be found in the next round. Who dies on the way up leaves bits that nobody finds; the next
// one of the same key or word sets those above again.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <vector>

namespace ps {

class Changes {
public:
    static uint64_t bytes(uint64_t num_keys) {
        uint64_t words = 0;
        for (uint64_t bits = num_keys, level = 0; level == 0 || bits > 1; level++) words += bits = words_of(bits);
        return words * sizeof(Word);
    }

    Changes() = default;
    Changes(char *memory, uint64_t num_keys) { // zeroed memory is that of no changes
        auto *at = reinterpret_cast<Word *>(memory);
        for (uint64_t bits = num_keys; depth_ == 0 || bits > 1;) {
            levels_[depth_++] = at;
            at += bits = words_of(bits);
        }
    }

    void note(uint64_t key) const {
        for (int level = 0; level < depth_; level++, key /= 64) {
            Word &word = levels_[level][key / 64];
            uint64_t bit = uint64_t(1) << key % 64;
            if (!(word.load() & bit)) word.fetch_or(bit);
        }
    }

    bool any() const { return levels_[depth_ - 1]->load() != 0; }

    void take(std::vector<uint64_t> *keys) const { // in their order
        if (any()) take(depth_ - 1, 0, keys);
    }

private:
    using Word = std::atomic<uint64_t>;

    static uint64_t words_of(uint64_t bits) { return (bits + 63) / 64; }

    void take(int level, uint64_t word, std::vector<uint64_t> *keys) const {
        for (uint64_t bits = levels_[level][word].exchange(0); bits; bits &= bits - 1) {
            uint64_t found = word * 64 + uint64_t(__builtin_ctzll(bits));
            if (level == 0)
                keys->push_back(found);
            else
                take(level - 1, found, keys);
        }
    }

    Word *levels_[11] = {}; // of 2^64 keys
    int depth_ = 0;
};

} // namespace ps
