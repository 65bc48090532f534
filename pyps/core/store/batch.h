// A batch of keys against the values that live on this node: checks first, then one key after another under its latch,
// with the memory of the next ones already on its way.
#pragma once

#include <cstdint>
#include <vector>

#include "ps.h"
#include "segment/segment.h"
#include "store/latch.h"

namespace ps {

// All of these throw PS_EKEY, PS_ESIZE or PS_EINVAL and change nothing then.
void check_keys(const Segment &segment, const int64_t *keys, int64_t num_keys);
int64_t total_length(const Segment &segment, const int64_t *keys, int64_t num_keys); // of checked keys
void check_request(const Segment &segment, const ps_request &request);
int64_t next_local(const Segment &segment, int64_t from, int64_t to); // the first of [from, to); none: `to`
bool overlap(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes);
bool all_local(const Segment &segment, const int64_t *keys, int64_t num_keys); // of checked keys
bool none_local(const Segment &segment, const int64_t *keys, int64_t num_keys); // likewise

// Keys that are passed over because they do not live here, by their positions.
struct Elsewhere {
    bool for_server; // shared keys are passed over too, and where a latch is busy what is left of the batch
    std::vector<int64_t> positions;
};

// Go on with a checked request at request.done. PS_OK; PS_EBUSY (PS_NOWAIT only); without `elsewhere` PS_ENOTLOCAL at a
// key that does not live here.
int32_t run_local(Segment &segment, Latches &latches, ps_request &request, Elsewhere *elsewhere = nullptr);

// The same of one key whose latch is held, at `place`. False: it does not live here.
bool run_latched(Segment &segment, Latches &latches, Row row, Place place, int32_t operation, char *value);

} // namespace ps
