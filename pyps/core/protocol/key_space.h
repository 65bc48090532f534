// What the keys of a store are: the numbers of a range, or any numbers of 64 bits, of which those that were ever used
// are known. By their numbers, or by a hash of any numbers, keys are shared among nodes and channels.
#pragma once

#include <cstdint>
#include <string>

#include "messages.h"

namespace ps {

constexpr Key no_key = UINT64_MAX; // is no key anywhere

class KeySpace {
public:
    static KeySpace range(uint64_t num_keys) { return KeySpace(num_keys); }
    static KeySpace any() { return KeySpace(0); }

    bool is_range() const { return num_keys_ > 0; }
    uint64_t num_keys() const { return num_keys_; } // of a range
    std::string what_others_are() const { // as "key 7 is ..." of a number that is none of the keys
        return is_range() ? "outside [0, " + std::to_string(num_keys_) + ")" : "no key";
    }
    bool has(Key key) const { return is_range() ? key < num_keys_ : key != no_key; }

    // After D. Stafford's variant 13 of MurmurHash3's finalizer.
    static uint64_t hash(Key key) {
        key = (key ^ key >> 30) * 0xbf58476d1ce4e5b9;
        key = (key ^ key >> 27) * 0x94d049bb133111eb;
        return key ^ key >> 31;
    }
    // What keys are dealt out by. Tables of a node's keys use the hash's other half, which does not depend on the node.
    uint64_t turn(Key key) const { return is_range() ? key : hash(key) >> 32; }

private:
    explicit KeySpace(uint64_t num_keys) : num_keys_(num_keys) {}

    uint64_t num_keys_;
};

} // namespace ps
