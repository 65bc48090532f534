#include "store/room.h"

#include <algorithm>

#include "store/use_counts.h"
#include "worker/workers.h"

namespace ps {

namespace {

constexpr uint64_t for_workers = 16; // 1/16 of the limit is kept for workers that may still join
constexpr uint64_t for_sharing = 8; // 1/8 of it for shared keys, if others would take all

struct Growth {
    uint64_t slabs = 0; // bytes of new ones
    uint64_t rows = 0; // for how many more values there will be slots, about
};

} // namespace

static Growth growth_of_class(const Segment &segment, uint32_t number, uint64_t bytes, uint64_t free) {
    Growth growth;
    if (bytes > free) growth.slabs = round_up(bytes - free, segment.header().slab_bytes_each);
    growth.rows = (free + growth.slabs) / segment.length_class(number).slot_bytes;
    return growth;
}

// Of what is promised it is not known which lengths it has: it is taken to find room in free slots of any.
static Growth growth(const Segment &segment, Kept kept, const Load &coming, uint64_t promised) {
    const Header &header = segment.header();
    const std::atomic<uint64_t> *free = kept == Kept::alone ? header.free_bytes : header.free_shared_bytes;
    auto free_of = [=](uint32_t number) { return free[number].load(std::memory_order_relaxed); };
    const uint64_t bytes = coming.bytes() + promised;
    if (!coming.is_classed()) return growth_of_class(segment, 0, bytes, free_of(0));
    Growth all;
    uint64_t all_free = 0;
    for (uint32_t number = 0; number < header.num_classes; number++) {
        const Growth one = growth_of_class(segment, number, coming.of(number), free_of(number));
        all.slabs += one.slabs;
        all.rows += one.rows;
        all_free += free_of(number);
    }
    if (bytes > all_free) all.slabs = std::max(all.slabs, round_up(bytes - all_free, header.slab_bytes_each));
    return all;
}

// On a node that lets keys go, values take all the memory that they can have. So they leave room for their rows and for
// the next table of rows, which is made now and then as keys come and go, and on several nodes for shared keys.
static uint64_t for_rows_and_replicas(Segment &segment, Kept kept, uint64_t more_rows) {
    const Header &header = segment.header();
    const uint64_t for_shared = kept == Kept::alone && header.places > 1 ? header.memory_limit / for_sharing : 0;
    return segment.bytes_for_rows(more_rows) + for_shared;
}

bool has_room(Segment &segment, Kept kept, const Load &coming, uint64_t promised) {
    const Header &header = segment.header();
    if (!header.memory_limit || coming.bytes() + promised == 0) return true;
    const Growth more = growth(segment, kept, coming, promised);
    uint64_t for_others = std::min(count_free(segment) * header.undo_bytes, header.memory_limit / for_workers);
    if (segment.uses().are_kept()) {
        if (more.slabs == 0) return true;
        for_others += for_rows_and_replicas(segment, kept, more.rows);
    }
    return used_memory(segment) + more.slabs + for_others <= header.memory_limit;
}

uint64_t used_memory(const Segment &segment) {
    const Header &header = segment.header();
    return segment.mapping().committed() + header.copy_bytes.load(std::memory_order_relaxed) + UseCounts::bytes(header);
}

Load load_of_absent(const Segment &segment, const uint64_t *keys, uint64_t num_keys) {
    Load load(segment);
    for (uint64_t i = 0; i < num_keys; i++) {
        const Place place = segment.place(keys[i]);
        const uint32_t number = place.length_class();
        if (place.residence() == Residence::absent) load.add(number, segment.length_class(number).slot_bytes);
    }
    return load;
}

} // namespace ps
