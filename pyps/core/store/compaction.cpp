#include "store/compaction.h"

#include "segment/process.h"

namespace ps {

namespace {
constexpr double after_failure = 0.01; // seconds without another try, after values were in use all the time
} // namespace

bool Compaction::give_back_one(const Load &coming) {
    const uint32_t classes = segment_.header().num_classes;
    if (!segment_.length_class(0).row_at || monotonic_seconds() < next_try_) return false;
    for (uint32_t number = 0; number < classes; number++)
        if (can_spare(number, coming) && (slabs_.give_back_kept(number) || empty_one(number))) return true;
    return false;
}

bool Compaction::can_spare(uint32_t length_class, const Load &coming) const {
    const uint64_t free = segment_.header().free_bytes[length_class].load(std::memory_order_relaxed);
    const uint64_t slab = segment_.length_class(length_class).slab_bytes(segment_.header());
    return free >= coming.of(length_class) + slab;
}

bool Compaction::empty_one(uint32_t length_class) {
    const Pool::Slots slots = slabs_.close(length_class);
    if (slots.count == 0) return false;
    for (uint32_t i = 0; i < slots.count; i++) move(length_class, slots.first + i);
    const bool done = slabs_.open(length_class);
    if (!done) next_try_ = monotonic_seconds() + after_failure;
    return done;
}

// A value stays where its key is in use at the moment. Another channel may change its row meanwhile, so the row is
// looked at once more under the latch.
void Compaction::move(uint32_t length_class, uint32_t slot) {
    const Row row = slabs_.row_at(length_class, slot);
    if (row == no_row) return;
    Place place(0);
    if (!latches_.acquire(row, Patience::try_briefly, &place)) return;
    const bool is_here = place.residence() == Residence::owned && place.length_class() == length_class &&
                         place.index() == slot;
    if (is_here) place = slabs_.move_from_closed(place, row);
    latches_.release(row, place);
}

} // namespace ps
