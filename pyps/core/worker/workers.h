// The worker slots of a node: which process has which slot, and how slots of dead processes are freed.
#pragma once

#include <cstdint>
#include <optional>

#include "segment/segment.h"
#include "store/latch.h"

namespace ps {

// The content of WorkerSlot::identity: bits 0-31 the process's start time, 32-53 its pid (0: the slot is free), 54-58
// the epoch, which grows with every claim.
struct Identity {
    Process process;
    uint32_t epoch = 0;

    uint64_t word() const { return process.start | uint64_t(process.pid) << 32 | uint64_t(epoch) << 54; }
    bool is_taken() const { return process.pid != 0; }
    bool is_alive() const { return is_taken() && process.is_alive(); }
};

Identity identity_of(const WorkerSlot &slot);

// aside: a worker that barriers do not wait for, and that does not come to them.
enum class Role { training, aside };

// Take a free slot, or, if there is none, a dead worker's. The counters and the clock start from 0. Throws PS_EWORKERS,
// PS_ENOMEM.
// `ordinal` is set to how many have joined, this one included.
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
uint32_t count_free(const Segment &segment); // how many slots are free

} // namespace ps
