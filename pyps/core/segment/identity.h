// Which process has a worker's slot.
#pragma once

#include <cstdint>

#include "segment/process.h"
#include "segment/segment.h"

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

inline Identity identity_of(const WorkerSlot &slot) {
    uint64_t word = slot.identity.load(std::memory_order_acquire);
    return {{uint32_t(word >> 32 & 0x3fffff), uint32_t(word)}, uint32_t(word >> 54 & (epochs - 1))};
}

} // namespace ps
