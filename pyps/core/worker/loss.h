// Why the calls of a node's workers fail once a node of the cluster was lost, or this one's server ended. It is written
// into the shared memory, so that every worker, thread or process, finds it.
#pragma once

#include <string>

#include "segment/segment.h"

namespace ps {

// From now on every call fails with PS_ELOST, which names `node`. The first one counts.
void end_node(Segment &segment, State state, uint32_t node, const std::string &why);

[[noreturn]] void fail_as_ended(const Segment &segment); // of a node that is not open

inline void require_open(const Segment &segment) {
    if (!segment.is_open()) fail_as_ended(segment);
}

[[noreturn]] void fail_lost(const Segment &segment, uint32_t node); // that this node was lost
std::string describe_loss(const Segment &segment, uint32_t node);

void require_nobody_left(const Segment &segment); // throws PS_ELOST if a node has shut down: for what needs others

} // namespace ps
