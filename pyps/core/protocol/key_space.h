// Which keys a store has: the numbers of a range, or any numbers of 64 bits, of which only those that are used take
// memory. Keys are shared among nodes and channels by the number itself, or by a hash of it where keys may be any
// numbers.
//
// Where keys may be any numbers and values have several lengths, the topmost byte of a key is the number of its length
// class. So every node and worker knows the length of a key that was never used.
#pragma once

#include <cstdint>
#include <string>

#include "messages.h"
#include "mixing.h"

namespace ps {

constexpr Key no_key = UINT64_MAX; // never a key
constexpr uint32_t length_class_at = 56; // in a key: the lowest bit of the topmost byte
constexpr uint32_t most_key_classes = 128; // so that no key is negative as an int64

class KeySpace {
public:
    static KeySpace range(uint64_t num_keys) { return KeySpace(num_keys, num_keys); }
    static KeySpace any(uint32_t num_classes = 1) {
        return KeySpace(0, num_classes > 1 ? Key(num_classes) << length_class_at : no_key);
    }

    bool is_range() const { return num_keys_ > 0; }
    uint64_t num_keys() const { return num_keys_; } // of a range, else 0
    std::string what_others_are() const { // the words after "key 7 is" in an error about a number that is no key
        if (is_range()) return "outside [0, " + std::to_string(num_keys_) + ")";
        if (end_ == no_key) return "no key";
        return "of none of " + std::to_string(end_ >> length_class_at) + " length classes";
    }
    bool has(Key key) const { return key < end_; }
    // Of keys that may be any numbers; 0 for a number that is no key.
    uint32_t length_class(Key key) const { return end_ == no_key || !has(key) ? 0 : uint32_t(key >> length_class_at); }

    // The number by which keys are shared out. A node's tables of keys (rows.h) use the other half of the hash, which
    // does not depend on the node.
    uint64_t turn(Key key) const { return is_range() ? key : mix(key) >> 32; }

private:
    KeySpace(uint64_t num_keys, Key end) : num_keys_(num_keys), end_(end) {}

    uint64_t num_keys_;
    Key end_; // all keys are smaller
};

} // namespace ps
