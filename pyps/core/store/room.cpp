#include "store/room.h"

#include <algorithm>

#include "store/pool.h"
#include "worker/workers.h"

namespace ps {

namespace {
constexpr uint64_t for_workers = 16; // 1/16 of the limit is kept for workers that may still join
constexpr uint64_t for_sharing = 8; // 1/8 of it for shared keys, if others would take all
} // namespace

// On a node that lets keys go, values take all the memory that they can have. So they leave room for the next table of
// rows, which is made now and then as keys come and go, and on several nodes for shared keys.
static uint64_t for_rows_and_replicas(const Segment &segment, Kept kept, uint64_t more_bytes) {
    const Header &header = segment.header();
    const uint64_t rows = segment.made_rows() + more_bytes / segment.length_class(0).slot_bytes;
    const uint64_t for_shared = kept == Kept::alone && header.places > 1 ? header.memory_limit / for_sharing : 0;
    return HashedRows::bytes_of_next_table(std::min(rows, uint64_t(header.capacity))) + for_shared;
}

bool has_room(Segment &segment, Kept kept, uint64_t bytes) {
    const Header &header = segment.header();
    if (!header.memory_limit || bytes == 0) return true;
    const std::atomic<uint64_t> &slots = kept == Kept::alone ? header.free_bytes : header.free_shared_bytes;
    uint64_t free = slots.load(std::memory_order_relaxed);
    uint64_t slabs = bytes > free ? round_up(bytes - free, Pool::target_bytes) : 0;
    uint64_t for_others = std::min(count_free(segment) * header.undo_bytes, header.memory_limit / for_workers);
    if (segment.uses().are_kept()) {
        if (slabs == 0) return true;
        for_others += for_rows_and_replicas(segment, kept, free + slabs);
    }
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
