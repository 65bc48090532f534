// Whole rows: values with what an optimizer keeps for them, as checkpoints store them.
#pragma once

#include <cstdint>

#include "ps.h"
#include "segment/segment.h"
#include "store/latch.h"

namespace ps {

struct RowBatch {
    const int64_t *keys;
    int64_t num_keys;
    char *rows; // one after another, of whole_bytes each; null: none
    int64_t bytes;
    uint8_t *here; // set to 1 for each key that lives here, to 0 for others, of which the row is passed over
};

// Both check first, and throw PS_EKEY, PS_ESIZE or PS_EINVAL then. Each row is read or written under its key's latch.
void read_rows(const Segment &segment, Latches &latches, const RowBatch &batch);
void write_rows(const Segment &segment, Latches &latches, const RowBatch &batch);

// The next keys, from `next` on, which is set to where to go on; 0 is the beginning. Fewer than `capacity` are the last
// ones. A key that is there all the time is found exactly once.
int64_t find_keys(const Segment &segment, int32_t which, int64_t *next, int64_t *keys, int64_t capacity);

} // namespace ps
