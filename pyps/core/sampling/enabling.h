// Sampling is enabled once on each node, for its workers in all processes.
#pragma once

#include "ps.h"
#include "sampling/sampling_area.h"
#include "segment/segment.h"

namespace ps {

// Only in the process that created the node, and once. If it throws PS_EINVAL, PS_ESTATE or PS_ENOMEM, it has changed
// nothing.
void enable_sampling(Segment &segment, const ps_sampling_options &options);
const SamplingArea &sampling_area(const Segment &segment); // throws PS_ESTATE if it is not enabled

} // namespace ps
