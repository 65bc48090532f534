// Which keys of a channel go first when the node is full and lets keys go: of those that live here, where they began,
// the ones that were used least (see segment/uses.h).
//
// A list in the order of uses would be changed by each of them, and looking at all rows for each new key would take too
// long. So samples of at most 65,536 rows, spread evenly over all, are sorted by their bytes, one sample after the
// other until each row had its turn. One of 32 goes then, key by key as room is needed; what was used since it was
// sorted stays. So a key that goes costs 32 looks at a row, however many rows there are, and it is one of the 32nd part
// that was used least. Keys that are equal in this go in turn. Counts of uses lose one with each 64th pass over all
// rows: while twice as many keys come as there is room for.
#pragma once

#include <cstdint>
#include <vector>

#include "store/keys_at_home.h"

namespace ps {

class Victims {
public:
    Victims(const Segment &segment, uint32_t channel);

    // The next one, or no_key: none of all has gone, and for the next tenth of a second none is offered.
    Key next();
    void note_gone(); // the one that next() gave has gone

private:
    struct Listed {
        uint32_t index; // of the row
        Uses::Mark mark;
    };

    bool is_used_up() const { return at_ == sorted_.size() || gone_ * share >= sorted_.size(); }
    static Row row_at(uint64_t index) { return Row{index * HashedRows::row_words}; }
    void take_sample();
    void look_at(uint64_t block);
    void sort();

    static constexpr uint64_t share = 32; // one of so many in a sample goes
    static constexpr uint64_t block_rows = 64; // next to each other, whose bytes are one line of the cache
    static constexpr uint64_t most_blocks = 1024; // of a sample
    static constexpr uint64_t passes_per_decay = 64;

    const Segment &segment_;
    const KeysAtHome at_home_;
    std::vector<Listed> found_, sorted_; // of a sample
    size_t at_ = 0; // the next of sorted_
    size_t gone_ = 0; // of sorted_
    uint64_t number_ = 0; // of the sample, which has each n-th block
    uint64_t passes_ = 0; // over all rows
    std::vector<uint32_t> hands_; // by number of a sample: the row that was offered last
    uint64_t in_vain_ = 0; // samples since a key has gone
    double barren_until_ = 0; // monotonic seconds
};

} // namespace ps
