// The statistics of the workers of a node.
#pragma once

#include "ps.h"
#include "segment/segment.h"

namespace ps {

ps_worker_stats stats_of_workers(const Segment &segment); // of all workers that it has had, added up

} // namespace ps
