// A set of keys that is filled and cleared again and again: linear probing, the size a power of two, at most half full.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace ps {

class KeySet {
public:
    bool contains(int64_t key) const { return !places_.empty() && places_[place(key)] == key; }

    bool insert(int64_t key) { // returns false if it is there already
        if (2 * (used_ + 1) > places_.size()) resize(std::max<uint64_t>(64, 2 * places_.size()));
        int64_t &at = places_[place(key)];
        if (at == key) return false;
        at = key;
        used_++;
        return true;
    }

    void clear(uint64_t expected) { // makes it empty, with room for so many
        uint64_t size = 64;
        while (size < 2 * expected) size *= 2;
        used_ = 0;
        places_.clear();
        resize(size);
    }

private:
    static constexpr int64_t free = -1;

    uint64_t place(int64_t key) const {
        uint64_t at = (uint64_t(key) * 0x9e3779b97f4a7c15) >> shift_;
        while (places_[at] != free && places_[at] != key) at = (at + 1) & (places_.size() - 1);
        return at;
    }

    void resize(uint64_t size) {
        std::vector<int64_t> old(size, free);
        old.swap(places_);
        shift_ = 64 - __builtin_ctzll(size);
        for (int64_t key : old)
            if (key != free) places_[place(key)] = key;
    }

    std::vector<int64_t> places_;
    uint64_t used_ = 0;
    int shift_ = 63;
};

} // namespace ps
