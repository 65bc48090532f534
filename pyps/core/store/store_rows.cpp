// The rows of StoreValues: how keys get them, and which go where there is no room.
#include <algorithm>

#include "counting.h"
#include "errors.h"
#include "store/store_values.h"

namespace ps {

namespace {
// How many keys go for one row: if there is no memory for it after that, more of them would not help.
constexpr size_t most_for_a_row = 16;
} // namespace

bool StoreValues::make_rows(const std::vector<Key> &keys, const std::vector<Key> &needed) {
    if (segment_.header().is_range()) return true;
    std::vector<Key> rowless;
    for (Key key : keys)
        if (segment_.row(key) == no_row) rowless.push_back(key);
    if (rowless.empty()) return true;
    auto alone = slabs_.alone_with_room();
    if (rowless.size() > segment_.rows_left()) { // look first, so that what is refused takes no rows
        std::sort(rowless.begin(), rowless.end());
        rowless.erase(std::unique(rowless.begin(), rowless.end()), rowless.end());
        if (!make_room_for_rows(rowless.size(), needed)) return false;
    }
    return std::all_of(rowless.begin(), rowless.end(), [&](Key key) {
        const Load load = load_of(segment_.unused(key));
        auto has_room_for_value = [&] { return !begins_here(key) || has_room(segment_, Kept::alone, load); };
        auto has_row = [&] { return segment_.row(key) != no_row || make_row(key) != no_row; };
        return has_row() ||
               (make_room(load, has_room_for_value, needed) && make_room(load, has_row, needed, most_for_a_row));
    });
}

Load StoreValues::load_of(Place place) const {
    Load load(segment_);
    load.add(place.length_class(), class_of(place).slot_bytes);
    return load;
}

// The value is made before the row, so a worker that finds the row finds its value.
Row StoreValues::make_row(Key key) {
    const bool is_first = begins_here(key);
    Place place = segment_.unused(key);
    Row row = no_row;
    bool is_new = false;
    auto prepare = [&](Row made) { return is_new = enter(made, place); };
    if (is_first && !has_room(segment_, Kept::alone, load_of(place))) return no_row;
    try {
        if (is_first) place = slabs_.hold(place, segment_.first_value(key, class_of(place), &first_));
        row = segment_.make_row(key, prepare);
    } catch (const Failure &failure) {
        if (failure.error().code != PS_ENOMEM) throw;
    }
    if (!is_new && place.is_here()) slabs_.drop(place);
    if (is_new && place.is_here()) begin(key);
    if (is_new && !is_first) note_elsewhere(key);
    if (is_new && victims_) segment_.pass_time();
    return row;
}

// Workers that found the row when another key had it may still take its latch; they see then that it has gone.
bool StoreValues::enter(Row row, Place place) {
    Place former(0);
    if (!latches_.acquire(row, Patience::give_way, &former)) return false;
    if (place.is_here()) {
        segment_.note_here(row, 1);
        slabs_.note_row(place, row);
    }
    segment_.uses().begin(row);
    segment_.ages().note(row);
    latches_.release(row, place.latched_as(former));
    return true;
}

bool StoreValues::admit(Key key) {
    return segment_.header().is_range() || segment_.row(key) != no_row || make_rows({key});
}

// Whether there is room for so many more rows, also by giving up those of keys that are elsewhere, the oldest first.
bool StoreValues::make_room_for_rows(uint64_t rows, std::vector<Key> needed) {
    std::sort(needed.begin(), needed.end());
    needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
    for (size_t left = elsewhere_.size(); left > 0 && rows > segment_.rows_left(); left--) {
        const Key key = elsewhere_.front();
        elsewhere_.pop_front();
        is_elsewhere_.erase(key);
        const Row row = segment_.row(key);
        if (row == no_row || segment_.place(row).residence() != Residence::absent) continue;
        const bool stays = std::binary_search(needed.begin(), needed.end(), key) || keeps_row_(key);
        if (stays || !give_up(row, key)) note_elsewhere(key);
    }
    const bool can_have_room = needed.size() <= uint64_t(segment_.header().capacity);
    while (can_have_room && rows > segment_.rows_left() && let_one_go(needed)) {
    }
    return rows <= segment_.rows_left();
}

bool StoreValues::make_room(const Load &coming, const std::function<bool()> &has_room, const std::vector<Key> &needed,
                            size_t most) {
    if (has_room()) return true;
    if (!victims_) return false;
    std::vector<Key> sorted(needed);
    std::sort(sorted.begin(), sorted.end());
    for (size_t gone = 0;; gone++) {
        while (compaction_.give_back_one(coming))
            if (has_room()) return true;
        if (gone == most || !let_one_go(sorted)) return false;
        if (has_room()) return true;
    }
}

bool StoreValues::let_one_go(const std::vector<Key> &needed) {
    if (!victims_) return false;
    for (Key key = victims_->next(); key != no_key; key = victims_->next()) {
        if (std::binary_search(needed.begin(), needed.end(), key) || !let_go_(key)) continue;
        victims_->note_gone();
        count_in(segment_.header().keys_evicted, 1);
        return true;
    }
    return false;
}

// Who used the key before its latch is taken here has noted that.
bool StoreValues::let_unused_go(Key key, uint32_t ticks) {
    unused_for_ = ticks;
    const bool gone = let_go_(key);
    unused_for_ = 0;
    return gone;
}

// Only this thread brings the key here, so it stays absent.
bool StoreValues::give_up(Row row, Key key) {
    Place place(0);
    if (!latches_.acquire(row, Patience::try_briefly, &place)) return false;
    segment_.remove_row(key);
    latches_.release(row, place);
    return true;
}

void StoreValues::note_elsewhere(Key key) {
    if (segment_.header().is_range() || begins_here(key) || is_elsewhere_.count(key)) return;
    is_elsewhere_[key] = true;
    elsewhere_.push_back(key);
}

} // namespace ps
