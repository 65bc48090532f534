#include "store/slabs.h"

#include <cstring>
#include <new>

#include "counting.h"

namespace ps {

Slabs::Slabs(Segment &segment) : segment_(segment) {
    for (uint32_t number = 0; number < segment.header().num_classes; number++) {
        const LengthClass &c = segment.length_class(number);
        Header &header = segment.header();
        const uint32_t counted = header.is_range() ? 0 : number;
        owned_.emplace_back(segment, header.free_bytes[counted], c.base, c.slot_bytes, c.keys, c.row_at);
        shared_.emplace_back(segment, header.free_shared_bytes[counted], c.shared_base, c.shared_bytes, c.keys);
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
    new (segment_.shared(c, index)) SharedHead{1, {0}, 0, 0};
    count(segment_.header().replicas_held, 1, c.whole_bytes);
    return place_at(place, Residence::shared, index);
}

Place Slabs::share(Place place) {
    auto lock = alone(mutex_);
    const LengthClass &c = segment_.length_class(place.length_class());
    uint32_t index = shared_[place.length_class()].allocate(nullptr, 0);
    SharedHead *head = new (segment_.shared(c, index)) SharedHead{0, {0}, 0, 0};
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

void Slabs::note_row(Place place, Row row) const {
    const LengthClass &c = segment_.length_class(place.length_class());
    if (!c.row_at) return;
    segment_.row_word(c, place.index())
        .store(uint32_t(number_of(row) / HashedRows::row_words + 1), std::memory_order_relaxed);
}

Row Slabs::row_at(uint32_t length_class, uint32_t slot) const {
    const LengthClass &c = segment_.length_class(length_class);
    const uint64_t number = segment_.row_word(c, slot).load(std::memory_order_relaxed);
    return number ? Row{(number - 1) * HashedRows::row_words} : no_row;
}

bool Slabs::give_back_kept(uint32_t length_class) {
    auto lock = alone(mutex_);
    return owned_[length_class].give_back_kept();
}

Pool::Slots Slabs::close(uint32_t length_class) {
    auto lock = alone(mutex_);
    return owned_[length_class].close();
}

Place Slabs::move_from_closed(Place place, Row row) {
    auto lock = alone(mutex_);
    const LengthClass &c = segment_.length_class(place.length_class());
    Pool &pool = owned_[place.length_class()];
    if (!pool.has_room_for_closed()) return place;
    const Place moved = place_at(place, Residence::owned,
                                 pool.allocate(segment_.value(c, place.index()), c.whole_bytes));
    note_row(moved, row);
    pool.release(place.index());
    return moved;
}

bool Slabs::open(uint32_t length_class) {
    auto lock = alone(mutex_);
    return owned_[length_class].open();
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

void hold_first_keys(Segment &segment, Slabs &slabs) {
    const Header &header = segment.header();
    const HomeRule homes = segment.first_homes();
    std::vector<uint64_t> expected(header.num_classes);
    homes.for_each_at(NodeId(header.node), [&](Key key) { expected[segment.place(key).length_class()]++; });
    slabs.expect(expected);
    std::vector<char> room;
    homes.for_each_at(NodeId(header.node), [&](Key key) {
        const Row row = segment.rows().row(key);
        Entry &entry = segment.entry(row);
        const Place place(entry.load(std::memory_order_relaxed));
        const char *first = segment.first_value(key, segment.length_class(place.length_class()), &room);
        entry.store(slabs.hold(place, first).word(), std::memory_order_relaxed);
        segment.note_here(row, 1);
    });
}

} // namespace ps
