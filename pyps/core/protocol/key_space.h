// Which keys a store has: the numbers of a range, or any numbers of 64 bits, of which only those that are used take
// memory. Keys are shared among nodes and channels by the number itself, or by a hash of it where keys may be any
// numbers.
#pragma once

#include <cstdint>
#include <string>

#include "messages.h"
#include "mixing.h"

namespace ps {

constexpr Key no_key = UINT64_MAX; // never a key

class KeySpace {
public:
    static KeySpace range(uint64_t num_keys) { return KeySpace(num_keys); }
    static KeySpace any() { return KeySpace(0); }

    bool is_range() const { return num_keys_ > 0; }
    uint64_t num_keys() const { return num_keys_; } // of a range, else 0
    std::string what_others_are() const { // the words after "key 7 is" in an error about a number that is no key
        return is_range() ? "outside [0, " + std::to_string(num_keys_) + ")" : "no key";
    }
    bool has(Key key) const { return is_range() ? key < num_keys_ : key != no_key; }

    // The number by which keys are shared out. A node's tables of keys (rows.h) use the other half of the hash, which
    // does not depend on the node.
    uint64_t turn(Key key) const { return is_range() ? key : mix(key) >> 32; }

private:
    explicit KeySpace(uint64_t num_keys) : num_keys_(num_keys) {}

    uint64_t num_keys_;
};

} // namespace ps
