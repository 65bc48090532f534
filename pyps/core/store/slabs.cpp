#include "store/slabs.h"

#include <cstring>

#include "counting.h"

namespace ps {

Slabs::Slabs(Segment &segment) : segment_(segment) {
    for (uint32_t number = 0; number < segment.header().num_classes; number++) {
        const LengthClass &c = segment.length_class(number);
        owned_.emplace_back(segment, segment.header().free_bytes, c.base, c.slot_bytes, c.keys);
        shared_.emplace_back(segment, segment.header().free_shared_bytes, c.shared_base, c.shared_bytes, c.keys);
    }
}

void Slabs::expect(const std::vector<uint64_t> &keys) {
    for (size_t number = 0; number < keys.size(); number++) owned_[number].expect(keys[number]);
}

Place Slabs::hold(Place place, const char *whole) {
    auto lock = alone(mutex_);
    uint64_t bytes = segment_.length_class(place.length_class()).whole_bytes;
    uint32_t index = owned_[place.length_class()].allocate(whole, bytes);
    count(segment_.header().keys_held, 1, bytes);
    return place_at(place, Residence::owned, index);
}

Place Slabs::drop(Place place) {
    auto lock = alone(mutex_);
    const LengthClass &c = segment_.length_class(place.length_class());
    bool shared = place.residence() == Residence::shared;
    bool replica = shared && segment_.shared(c, place.index())->is_replica;
    (shared ? shared_ : owned_)[place.length_class()].release(place.index());
    count(replica ? segment_.header().replicas_held : segment_.header().keys_held, -1, c.whole_bytes);
    return place_at(place, Residence::absent, 0);
}

Place Slabs::hold_replica(Place place) {
    auto lock = alone(mutex_);
    const LengthClass &c = segment_.length_class(place.length_class());
    uint32_t index = shared_[place.length_class()].allocate(nullptr, 0);
    *segment_.shared(c, index) = SharedHead{1, 0};
    count(segment_.header().replicas_held, 1, c.whole_bytes);
    return place_at(place, Residence::shared, index);
}

Place Slabs::share(Place place) {
    auto lock = alone(mutex_);
    const LengthClass &c = segment_.length_class(place.length_class());
    uint32_t index = shared_[place.length_class()].allocate(nullptr, 0);
    SharedHead *head = segment_.shared(c, index);
    *head = SharedHead{0, 0};
    std::memcpy(Segment::value(head), segment_.value(c, place.index()), c.whole_bytes);
    owned_[place.length_class()].release(place.index());
    return place_at(place, Residence::shared, index);
}

Place Slabs::unshare(Place place) {
    auto lock = alone(mutex_);
    const LengthClass &c = segment_.length_class(place.length_class());
    SharedHead *head = segment_.shared(c, place.index());
    uint32_t index = owned_[place.length_class()].allocate(Segment::value(head), c.whole_bytes);
    if (head->is_replica) {
        count(segment_.header().replicas_held, -1, 0);
        count(segment_.header().keys_held, 1, 0);
    }
    shared_[place.length_class()].release(place.index());
    return place_at(place, Residence::owned, index);
}

std::unique_lock<std::mutex> Slabs::alone(std::mutex &mutex) const {
    std::unique_lock<std::mutex> lock(mutex, std::defer_lock);
    if (segment_.header().num_channels > 1) lock.lock();
    return lock;
}

Place Slabs::place_at(Place place, Residence residence, uint32_t index) const {
    return Place(residence, place.length_class(), index).latched_as(place);
}

void Slabs::count(std::atomic<uint64_t> &what, int change, uint64_t bytes) {
    add_to(what, change);
    add_to(segment_.header().value_bytes, change * int64_t(bytes));
}

} // namespace ps
