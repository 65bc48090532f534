// Why the calls of a node's workers fail after a node of the cluster was lost, or this node's server ended. It is
// written into the shared memory, where workers in all threads and processes find it.
#pragma once

#include <string>

#include "segment/segment.h"

namespace ps {

// From now on every call fails with PS_ELOST, which names `node`. Only the first call of this counts.
void end_node(Segment &segment, State state, uint32_t node, const std::string &why);

// From now on every call fails with PS_ECLOSED and the reason; an empty one: the server was shut down.
void close_node(Segment &segment, const std::string &why);

[[noreturn]] void fail_as_ended(const Segment &segment); // the node must not be open

inline void require_open(const Segment &segment) {
    if (!segment.is_open()) fail_as_ended(segment);
}

[[noreturn]] void fail_lost(const Segment &segment, uint32_t node); // throws PS_ELOST: `node` was lost
std::string describe_loss(const Segment &segment, uint32_t node);

// Throws PS_ELOST if a node has shut down, without which operations that need other nodes end.
void require_nobody_left(const Segment &segment);

} // namespace ps
