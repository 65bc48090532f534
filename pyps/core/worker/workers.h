// The worker slots of a node: which process has which slot, and how slots of dead processes are freed.
#pragma once

#include <cstdint>
#include <optional>

#include "segment/identity.h"
#include "segment/segment.h"

namespace ps {

// aside: a worker that barriers do not wait for, and that does not come to them.
enum class Role { training, aside };

// Take a free slot, or, if there is none, a dead worker's. The clock starts from 0; the counters go on. Throws
// PS_EWORKERS, PS_ENOMEM. `ordinal` is set to how many have joined, this one included.
Holder join(Segment &segment, uint32_t *ordinal = nullptr, Role role = Role::training);
// Takes the channel's slot, which lies behind the workers'; throws PS_ENOMEM.
Holder join_as_server(Segment &segment, uint32_t channel);
void leave(Segment &segment, Holder me); // also gives the memory of the undo area back

// Free the slots of dead workers and the latches that they held, except those that would have to wait for a living
// worker. Returns how many were freed.
uint32_t reclaim_dead(Segment &segment);
// How many workers have come to this round of their barrier; nothing if one is missing.
std::optional<uint32_t> count_arrived(const Segment &segment, uint32_t round);
uint32_t count_workers(const Segment &segment);
int64_t count_pending(const Segment &segment); // operations of living workers on their way to other nodes
uint32_t count_free(const Segment &segment); // how many slots are free

} // namespace ps
