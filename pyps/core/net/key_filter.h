// Which keys there may be among some: says yes for all that were added, and now and then for another one.
#pragma once

#include "mixing.h"
#include "protocol/messages.h"

namespace ps {

class KeyFilter {
public:
    void add(Key key) { words_[bit(key) / 64] |= uint64_t(1) << bit(key) % 64; }
    bool may_have(Key key) const { return words_[bit(key) / 64] >> bit(key) % 64 & 1; }

private:
    static constexpr uint64_t bits = 2048; // of 200 keys that were not added, 19 seem to be there after 200 were
    static uint64_t bit(Key key) { return mix(key) % bits; }

    uint64_t words_[bits / 64] = {};
};

} // namespace ps
