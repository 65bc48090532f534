#include "store/store_values.h"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "counting.h"
#include "errors.h"
#include "store/batch.h"
#include "store/room.h"
#include "worker/workers.h"

namespace ps {

namespace {

constexpr uint64_t places_at_once = 8 * here_block;

bool take_delta_of(SharedHead *head, const LengthClass &c, Bytes *delta) {
    if (!head->has_delta()) return false;
    char *from = Segment::delta(head, c);
    delta->assign(from, from + c.value_bytes);
    head->changed = head->has_rest = 0;
    return true;
}

Place absent(Place place, uint32_t seen) {
    return Place(Residence::absent, place.length_class(), seen).latched_as(place);
}

Standing standing_of(const SharedHead &head) {
    if (!head.is_replica) return Standing::shared;
    return head.is_closed.load(std::memory_order_relaxed) ? Standing::closed : Standing::replica;
}

} // namespace

StoreValues::StoreValues(Segment &segment, Slabs &slabs, uint32_t channel)
    : segment_(segment), slabs_(slabs), channel_(channel),
      at_first_(NodeId(segment.header().node), segment.first_homes()), me_(join_as_server(segment, channel)),
      latches_(segment, me_), compaction_(segment, slabs, latches_) {
    if (segment.uses().are_kept()) victims_.emplace(segment, channel);
}

StoreValues::~StoreValues() { leave(segment_, me_); }

bool StoreValues::latch(Key key) {
    if (latched_ != no_key) throw std::logic_error("a second latch");
    row_ = segment_.row(key);
    if (row_ == no_row && make_rows({key})) row_ = segment_.row(key);
    if (row_ == no_row) return false;
    erased_ = false;
    if (!latches_.acquire(row_, Patience::give_way, &place_)) return false;
    if (unused_for_ && segment_.ages().ticks_since_use(row_) < unused_for_) {
        latches_.release(row_, place_);
        return false;
    }
    latched_ = key;
    return true;
}

void StoreValues::unlatch() {
    if (erased_) remove_row();
    latches_.release(row_, place_);
    latched_ = no_key;
}

void StoreValues::require_latched(Key key) const {
    if (latched_ != key) throw std::logic_error("a key without its latch");
}

// `body(place)` returns the key's new place, which others see at once.
template <class Body>
void StoreValues::with(Key key, Body &&body) {
    require_latched(key);
    erased_ = false;
    bool was_here = place_.is_here();
    place_ = body(place_);
    segment_.entry(row_).store(place_.held_by(me_).word(), std::memory_order_release);
    if (place_.residence() == Residence::absent) note_elsewhere(key);
    if (place_.is_here() != was_here) segment_.note_here(row_, place_.is_here() ? 1 : -1);
    if (place_.residence() != Residence::owned) return;
    slabs_.note_row(place_, row_);
    segment_.uses().renew(row_);
    segment_.ages().note(row_);
}

void StoreValues::close(Key key) {
    head_of(segment_.place(segment_.row(key)))->is_closed.store(1, std::memory_order_release);
}

Standing StoreValues::standing(Key key) const {
    Row row = segment_.row(key);
    if (row == no_row) return begins_here(key) ? Standing::owned : Standing::absent;
    Place place = segment_.place(row); // only this thread changes where a key is
    switch (place.residence()) {
    case Residence::owned: return Standing::owned;
    case Residence::shared: return standing_of(*head_of(place));
    case Residence::awaited: return Standing::awaited;
    default: return Standing::absent;
    }
}

// Skips blocks without keys that are here: reading their entries would allocate memory for them.
uint64_t StoreValues::for_some_here(uint64_t from, const std::function<void(Key key)> &body) const {
    return segment_.with_rows([&](const auto &rows) {
        const uint64_t places = rows.places(), end = std::min(from + places_at_once, places);
        rows.for_each(from, end, [&](Row row, Key key) {
            if (segment_.keys_here(row)) body(key);
        });
        return end < places ? end : 0;
    });
}

void StoreValues::prefetch_place(Key key) const {
    if (segment_.header().is_range())
        __builtin_prefetch(&segment_.entry(segment_.rows().row(key)), 1);
    else
        segment_.with_rows([=](const auto &rows) { rows.prefetch(key); });
}

void StoreValues::prefetch(Key key) const {
    Place place = segment_.place(key);
    if (place.is_here()) __builtin_prefetch(segment_.value(place), 1);
}

bool StoreValues::fits_replica(Key, Operation operation) const {
    if (operation == Operation::pull) return true;
    const Rule &rule = operation == Operation::set ? segment_.rules()[set_rule] : segment_.rule();
    return rule.merge[segment_.header().dtype];
}

void StoreValues::run(Key key, int32_t operation, char *value) {
    require_latched(key);
    erased_ = false;
    if (!run_latched(segment_, latches_, row_, place_, operation, value)) throw std::logic_error("the key is not here");
    if (segment_.uses().are_kept() || segment_.ages().are_kept())
        UseNotes(segment_.uses(), segment_.ages(), operation != PS_PULL).note(row_);
}

void StoreValues::pull(Key key, Bytes *value) {
    require_latched(key);
    value->resize(class_of(place_).value_bytes);
    run(key, PS_PULL, value->data());
}

void StoreValues::push(Key key, const Bytes &delta) { run(key, PS_PUSH, const_cast<char *>(delta.data())); }

void StoreValues::set(Key key, const Bytes &value) { run(key, PS_SET, const_cast<char *>(value.data())); }

void StoreValues::read(Key key, Bytes *whole) {
    require_latched(key);
    erased_ = false;
    const LengthClass &c = class_of(place_);
    const char *from = segment_.value(place_);
    whole->assign(from, from + c.whole_bytes);
}

void StoreValues::replace(Key key, const char *whole) {
    with(key, [&](Place place) {
        if (place.residence() == Residence::shared) head_of(place)->changed = 1;
        std::memcpy(segment_.value(place), whole, class_of(place).whole_bytes);
        return place;
    });
}

Bytes StoreValues::first_whole(Key key) const {
    const LengthClass &c = segment_.class_of(key);
    Bytes whole;
    if (!segment_.first_value(key, c, &whole)) whole.resize(c.whole_bytes);
    return whole;
}

void StoreValues::await(Key key) {
    with(key,
         [](Place place) { return Place(Residence::awaited, place.length_class(), place.index()).latched_as(place); });
}

void StoreValues::forget(Key key) {
    with(key, [](Place place) { return absent(place, place.index()); });
}

void StoreValues::own(Key key, const char *whole) {
    count_in(segment_.header().relocations_in, 1);
    with(key, [&](Place place) {
        const LengthClass &c = class_of(place);
        if (place.residence() != Residence::shared) return slabs_.hold(place, whole);
        SharedHead *head = head_of(place);
        Bytes total(whole, whole + c.whole_bytes);
        if (head->has_delta()) apply(total.data(), Segment::delta(head, c), c);
        place = slabs_.unshare(place);
        std::memcpy(segment_.value(c, place.index()), total.data(), c.whole_bytes);
        return place;
    });
}

void StoreValues::give(Key key, NodeId to, Bytes *wholes) {
    count_in(segment_.header().relocations_out, 1);
    with(key, [&](Place place) {
        const LengthClass &c = class_of(place);
        const char *from = segment_.value(place);
        wholes->insert(wholes->end(), from, from + c.whole_bytes);
        return absent(slabs_.drop(place), seen_at(to));
    });
}

bool StoreValues::has_room_to_share(Key key) const {
    Load load(segment_);
    load.add(segment_.place(key).length_class(), segment_.class_of(key).shared_bytes);
    return has_room(segment_, Kept::shared, load);
}

void StoreValues::share(Key key) {
    with(key, [&](Place place) { return slabs_.share(place); });
}

void StoreValues::unshare(Key key) {
    with(key, [&](Place place) { return slabs_.unshare(place); });
}

bool StoreValues::take_changed(Key key) {
    bool changed = false;
    with(key, [&](Place place) {
        SharedHead *head = head_of(place);
        changed = head->changed;
        head->changed = 0;
        return place;
    });
    return changed;
}

void StoreValues::copy(Key key, const Bytes &value) {
    count_in(segment_.header().replicas_made, 1);
    with(key, [&](Place place) {
        place = slabs_.hold_replica(place);
        std::memcpy(Segment::value(head_of(place)), value.data(), class_of(place).value_bytes);
        return place;
    });
}

void StoreValues::refresh(Key key, const Bytes &value, const Bytes &sent) {
    with(key, [&](Place place) {
        const LengthClass &c = class_of(place);
        SharedHead *head = head_of(place);
        std::memcpy(Segment::value(head), value.data(), c.value_bytes);
        if (!segment_.rule().at_replicas) return place;
        if (!sent.empty()) apply(Segment::value(head), sent.data(), c);
        if (head->has_delta()) apply(Segment::value(head), Segment::delta(head, c), c);
        return place;
    });
}

bool StoreValues::take_delta(Key key, Bytes *delta) {
    bool any = false;
    with(key, [&](Place place) {
        any = take_delta_of(head_of(place), class_of(place), delta);
        return place;
    });
    return any;
}

bool StoreValues::take_part(Key key, Bytes *part) {
    const Compression &compression = segment_.header().compression;
    bool any = false;
    with(key, [&](Place place) {
        SharedHead *head = head_of(place);
        const LengthClass &c = class_of(place);
        any = head->changed && take_delta_of(head, c, part);
        if (any && compression.packing().shortens(c.value_bytes))
            head->has_rest = compression.split(Segment::delta(head, c), part, &split_room_);
        return place;
    });
    return any;
}

bool StoreValues::retire(Key key, Bytes *delta) {
    bool any = false;
    with(key, [&](Place place) {
        any = take_delta_of(head_of(place), class_of(place), delta);
        place = slabs_.drop(place);
        return Place(Residence::awaited, place.length_class(), 0).latched_as(place);
    });
    return any;
}

void StoreValues::erase(Key key) {
    with(key, [&](Place place) {
        if (!begins_here(key)) return absent(slabs_.drop(place), 0);
        const LengthClass &c = class_of(place);
        const char *first = segment_.first_value(key, c, &first_);
        char *value = segment_.value(place);
        first ? std::memcpy(value, first, c.whole_bytes) : std::memset(value, 0, c.whole_bytes);
        return place;
    });
    erased_ = true;
}

void StoreValues::remove_row() {
    const Key key = latched_;
    if (place_.is_here()) with(key, [&](Place place) { return absent(slabs_.drop(place), 0); });
    segment_.remove_row(key);
}

// The row of a change may have lost its key since.
void StoreValues::take_changes(std::vector<Key> *keys) {
    segment_.changes(channel_).take([&](Row row) {
        if (const Key key = segment_.key(row); key != no_key) keys->push_back(key);
    });
}

void StoreValues::apply(Bytes *whole, const char *delta, Key key) const {
    apply(whole->data(), delta, segment_.class_of(key));
}

void StoreValues::assign(Bytes *whole, const char *value, Key key) const {
    std::memcpy(whole->data(), value, segment_.class_of(key).value_bytes);
}

void StoreValues::apply(char *whole, const char *delta, const LengthClass &c) const {
    RuleSettings settings = segment_.settings();
    segment_.rule().apply[segment_.header().dtype](whole, delta, c.length, Segment::state(whole, c), settings);
}

} // namespace ps
