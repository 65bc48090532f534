// Does a batch of keys on the values that live on this node: checks first, then one key after another under its latch,
// while memory for the next ones is prefetched.
#pragma once

#include <cstdint>
#include <vector>

#include "ps.h"
#include "segment/segment.h"
#include "store/latch.h"

namespace ps {

// Those that check throw PS_EKEY, PS_ESIZE or PS_EINVAL, and have changed nothing then.
void check_keys(const Segment &segment, const int64_t *keys, int64_t num_keys);
int64_t total_length(const Segment &segment, const int64_t *keys, int64_t num_keys); // elements; checked keys only
void check_request(const Segment &segment, const ps_request &request);
// The first key of [from, to) that is here, or `to`.
int64_t next_local(const Segment &segment, int64_t from, int64_t to);
bool overlap(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes);
bool all_local(const Segment &segment, const int64_t *keys, int64_t num_keys); // checked keys only
bool none_local(const Segment &segment, const int64_t *keys, int64_t num_keys); // checked keys only

// The keys that are passed over because they do not live here, by their positions.
struct Elsewhere {
    bool for_server = false; // shared keys are passed over too, and all that is left where a latch is busy
    std::vector<int64_t> positions;
};

// Go on with a checked request at request.done. Returns PS_OK; PS_EBUSY, only with PS_NOWAIT; or PS_ENOTLOCAL, only
// without `elsewhere`, at a key that does not live here.
int32_t run_local(Segment &segment, Latches &latches, ps_request &request, Elsewhere *elsewhere = nullptr);

// The same for one key, which is at `place` and whose latch the caller holds. False: it does not live here.
bool run_latched(Segment &segment, Latches &latches, Row row, Place place, int32_t operation, char *value);

} // namespace ps
