// The nodes of the cluster, as a node's shared memory has them.
#pragma once

#include <atomic>
#include <cstdint>

namespace ps {

// What this node knows about each node of the cluster. Only the server process writes it.
enum class Member : uint32_t { here = 0, left = 1, lost = 2, absent = 3 }; // absent: there never was one
struct MemberSlot {
    std::atomic<Member> state;
    uint32_t is_first; // 1: it is there when the cluster starts
    std::atomic<uint32_t> is_known; // 1: its endpoint is written, once
    // Written before `state` becomes lost: how the loss is known, and which node noticed it.
    std::atomic<uint16_t> evidence, by;
    std::atomic<uint32_t> is_watched; // 1: `metrics` is written, once
    char metrics[116]; // where its statistics can be read

    bool is_member() const { // it is still the home of keys when it has left, until the others begin another epoch
        const Member now = state.load(std::memory_order_acquire);
        return now == Member::here || now == Member::left;
    }
};

} // namespace ps
