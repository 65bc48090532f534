// What the keys of a store are: the numbers of a range, or any numbers of 64 bits, of which those that were ever used
// are known. By their numbers, or by a hash of any numbers, keys are shared among nodes and channels.
#pragma once

#include <cstdint>
#include <string>

#include "messages.h"
#include "mixing.h"

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

    // What keys are dealt out by. A node's tables of its keys begin with the other half of that word (see rows.h),
    // which does not depend on the node.
    uint64_t turn(Key key) const { return is_range() ? key : mix(key) >> 32; }

private:
    explicit KeySpace(uint64_t num_keys) : num_keys_(num_keys) {}

    uint64_t num_keys_;
};

} // namespace ps
