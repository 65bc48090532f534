// Lets the keys of a channel go that were not used for the greatest age, while nobody calls as well.
//
// The channel's thread looks at all rows again and again, some of them in each turn, so that a pass takes a fiftieth of
// the greatest age. A turn is over after a fifth of a millisecond; what is left follows after a rest of the same
// length. A tick takes a hundredth of the greatest age, so a key goes 1.0 to 1.04 times that after its last use, unless
// the thread has no processor, or more keys are to go than it can remove, about two million in a second.
//
// Marks are bytes, and ticks go on: a row that may not go at the moment is marked as used so long ago that it is looked
// at each time, but not longer. Ticks wait until each channel has passed over all rows, so no mark is 256 ticks old.
#pragma once

#include <cstdint>
#include <functional>

#include "store/keys_at_home.h"

namespace ps {

class Expiry {
public:
    // Lets the key go if it was not used for so many ticks; false if it was, or is needed.
    using LetGo = std::function<bool(Key key, uint32_t ticks)>;

    Expiry(Segment &segment, uint32_t channel, LetGo let_go);

    double due() const; // monotonic seconds: when the next turn is to be
    void take_turn(double now);

private:
    double tick_seconds() const;
    void let_tick_pass(double now);
    void begin_portion();
    uint64_t look_at(uint64_t index, uint32_t too_many);
    void keep(Row row);

    Segment &segment_;
    const KeysAtHome at_home_;
    const uint32_t channel_;
    const LetGo let_go_;
    uint64_t next_ = 0, portion_end_ = 0, pass_end_ = 0; // rows
    uint32_t pass_began_ = 0; // tick
    double portion_due_ = 0, rest_ = 0; // monotonic seconds; seconds between portions
};

} // namespace ps
