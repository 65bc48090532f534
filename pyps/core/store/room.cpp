#include "store/room.h"

#include <algorithm>

#include "store/pool.h"
#include "worker/workers.h"

namespace ps {

namespace {
constexpr uint64_t for_workers = 16; // 1/16 of the limit is kept for workers that may still join
}

bool has_room(Segment &segment, Kept kept, uint64_t bytes) {
    const Header &header = segment.header();
    if (!header.memory_limit || bytes == 0) return true;
    const std::atomic<uint64_t> &slots = kept == Kept::alone ? header.free_bytes : header.free_shared_bytes;
    uint64_t free = slots.load(std::memory_order_relaxed);
    uint64_t slabs = bytes > free ? round_up(bytes - free, Pool::target_bytes) : 0;
    uint64_t for_others = std::min(count_free(segment) * header.undo_bytes, header.memory_limit / for_workers);
    return segment.mapping().committed() + slabs + for_others <= header.memory_limit;
}

uint64_t bytes_of_absent(const Segment &segment, const uint64_t *keys, uint64_t num_keys) {
    uint64_t bytes = 0;
    for (uint64_t i = 0; i < num_keys; i++) {
        Place place = segment.place(keys[i]);
        if (place.residence() == Residence::absent) bytes += segment.length_class(place.length_class()).slot_bytes;
    }
    return bytes;
}

} // namespace ps
