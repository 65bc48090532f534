#include "slabs.h"

#include <algorithm>
#include <cstring>

namespace ps {

Slabs::Slabs(Segment &segment) : segment_(segment) {
    for (uint32_t number = 0; number < segment.header().num_classes; number++) {
        uint64_t slots = std::max<uint64_t>(1, target_bytes / segment.length_class(number).slot_bytes);
        classes_.push_back({uint32_t(std::min(slots, segment.length_class(number).keys)), {}, {}});
    }
}

Place Slabs::hold(Place place) {
    std::lock_guard<std::mutex> lock(mutex_);
    uint32_t number = place.length_class();
    uint32_t index = allocate(number);
    count(1, 0, int64_t(segment_.length_class(number).value_bytes));
    return Place(Residence::owned, number, index).held_by(place.holder());
}

Place Slabs::drop(Place place) {
    std::lock_guard<std::mutex> lock(mutex_);
    uint32_t number = place.length_class();
    release(number, place.index());
    count(-1, 0, -int64_t(segment_.length_class(number).value_bytes));
    return Place(Residence::absent, number, 0).held_by(place.holder());
}

uint32_t Slabs::allocate(uint32_t class_number) {
    Class &c = classes_[class_number];
    const LengthClass &shape = segment_.length_class(class_number);
    uint32_t slab_number;
    Slab &slab = with_room(class_number, &slab_number);
    uint32_t first = slab_number * c.slots_per_slab, slot = slab.first_free;
    char *value = segment_.value(shape, first + (slot == none ? slab.touched : slot));
    if (slot == none)
        slot = slab.touched++;
    else
        std::memcpy(&slab.first_free, value, sizeof slab.first_free);
    if (slab.recycled) std::memset(value, 0, shape.slot_bytes); // memory fresh from the system is zero
    if (++slab.live == capacity(class_number, slab_number)) {
        slab.in_open = false;
        c.open.pop_back();
    }
    return first + slot;
}

// The slab that the next value goes to, committed; it is c.open.back().
Slabs::Slab &Slabs::with_room(uint32_t class_number, uint32_t *slab_number) {
    Class &c = classes_[class_number];
    if (c.open.empty()) {
        c.open.reserve(c.slabs.size() + 1);
        c.slabs.emplace_back();
        c.slabs.back().in_open = true;
        c.open.push_back(uint32_t(c.slabs.size() - 1));
    }
    *slab_number = c.open.back();
    Slab &slab = c.slabs[*slab_number];
    if (slab.live == 0 && slab.touched == 0) {
        const LengthClass &shape = segment_.length_class(class_number);
        uint64_t bytes = slab_bytes(class_number, *slab_number);
        uint64_t begin = shape.base + uint64_t(*slab_number) * c.slots_per_slab * shape.slot_bytes;
        segment_.mapping().commit(begin, bytes);
        count(0, int64_t(bytes), 0);
    }
    return slab;
}

void Slabs::release(uint32_t class_number, uint32_t index) {
    Class &c = classes_[class_number];
    const LengthClass &shape = segment_.length_class(class_number);
    uint32_t slab_number = index / c.slots_per_slab, slot = index % c.slots_per_slab;
    Slab &slab = c.slabs[slab_number];
    std::memcpy(segment_.value(shape, index), &slab.first_free, sizeof slab.first_free);
    slab.first_free = slot;
    slab.recycled = true;
    if (!slab.in_open) {
        slab.in_open = true;
        c.open.push_back(slab_number);
    }
    if (--slab.live == 0) {
        uint64_t bytes = slab_bytes(class_number, slab_number);
        segment_.mapping().discard(shape.base + uint64_t(slab_number) * c.slots_per_slab * shape.slot_bytes, bytes);
        slab.touched = 0;
        slab.first_free = none;
        count(0, -int64_t(bytes), 0);
    }
}

// In slots; the last slab of a class ends with the class.
uint32_t Slabs::capacity(uint32_t class_number, uint32_t slab_number) const {
    uint64_t per_slab = classes_[class_number].slots_per_slab;
    return uint32_t(std::min(per_slab, segment_.length_class(class_number).keys - slab_number * per_slab));
}

uint64_t Slabs::slab_bytes(uint32_t class_number, uint32_t slab_number) const {
    return uint64_t(capacity(class_number, slab_number)) * segment_.length_class(class_number).slot_bytes;
}

void Slabs::count(int64_t keys, int64_t slab_bytes, int64_t value_bytes) {
    Header &header = segment_.header();
    header.keys_held.fetch_add(uint64_t(keys), std::memory_order_relaxed);
    header.slab_bytes.fetch_add(uint64_t(slab_bytes), std::memory_order_relaxed);
    header.value_bytes.fetch_add(uint64_t(value_bytes), std::memory_order_relaxed);
}

} // namespace ps
