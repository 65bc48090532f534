// Finds the rows of a batch's keys, and prefetches what the next keys need.
#pragma once

#include <algorithm>
#include <cstdint>

#include "segment/segment.h"

namespace ps {

// How many keys ahead memory is prefetched: far enough to hide its latency, some 100 ns where a key takes 20 ns.
constexpr int64_t slots_ahead = 64, entries_ahead = 32, values_ahead = 16;
constexpr uint64_t cache_line = 64, most_lines_ahead = 16;
constexpr int in_second_level = 2; // __builtin_prefetch's locality

// Prefetches into the second-level cache: 16 values of some hundred bytes have more lines than the first level can
// fetch at once. Not for writing, which would take lines from other workers' caches before it is necessary.
[[gnu::always_inline]] inline void prefetch_value(const Segment &segment, Row row) {
    Place place = segment.place(row);
    const LengthClass &c = segment.length_class(place.length_class());
    const char *value = segment.value(c, place.index());
    uint64_t end = std::min<uint64_t>(c.slot_bytes, cache_line * most_lines_ahead);
    for (uint64_t byte = 0; byte < end; byte += cache_line) __builtin_prefetch(value + byte, 0, in_second_level);
    __builtin_prefetch(value + end - 1, 0, in_second_level);
}

// The rows of the next keys of a batch. Each row is found once and kept until it is used; where a key is its own row,
// keeping it would take longer than finding it. The caller may change its keys during the call: what is done to a key
// is done to the row that was found last.
enum class Ahead { entries, values, values_to_write };
template <class Rows, Ahead ahead>
class RowsAhead {
public:
    RowsAhead(const Segment &segment, const Rows &rows, const int64_t *keys, int64_t from, int64_t count)
        : segment_(segment), rows_(rows), keys_(keys), count_(count) {
        if constexpr (Rows::has_slots)
            for (int64_t i = from; i < std::min(count, from + slots_ahead); i++) ask_for_slot(i);
        for (int64_t i = from; i < std::min(count, from + entries_ahead); i++) ask_for_entry(i);
        for (int64_t i = from; i < std::min(count, from + values_ahead); i++) ask_for_value(i);
    }

    // The row of the key at this position, which must be the next one. no_row: there is no such key, or none that is
    // known here.
    [[gnu::always_inline]] Row take(int64_t i) {
        Row row = this->row(i);
        if constexpr (Rows::has_slots)
            if (i + slots_ahead < count_) ask_for_slot(i + slots_ahead);
        if (i + entries_ahead < count_) ask_for_entry(i + entries_ahead);
        if (i + values_ahead < count_) ask_for_value(i + values_ahead);
        return row;
    }
    // After take(i): the row of a key that comes soon; no_row if there is none.
    Row soon(int64_t i) { return i + values_ahead < count_ ? row(i + values_ahead) : no_row; }

private:
    static constexpr uint64_t places = Rows::has_slots ? slots_ahead : entries_ahead;
    uint64_t &at(int64_t i) { return found_[uint64_t(i) % places]; }
    Row row(int64_t i) {
        if constexpr (Rows::are_keys)
            return rows_.find(uint64_t(keys_[i]));
        else
            return Row{at(i)};
    }
    void ask_for_slot(int64_t i) { at(i) = rows_.ask(uint64_t(keys_[i]), &view_); }
    void ask_for_entry(int64_t i) {
        if constexpr (!Rows::are_keys) at(i) = number_of(rows_.guess(uint64_t(keys_[i]), at(i), view_));
        if (Row row = this->row(i); row != no_row)
            __builtin_prefetch(&segment_.entry(row), ahead == Ahead::values_to_write);
    }
    void ask_for_value(int64_t i) {
        if constexpr (Rows::has_slots) at(i) = number_of(rows_.confirm(Row{at(i)}, uint64_t(keys_[i])));
        if constexpr (ahead != Ahead::entries)
            if (Row row = this->row(i); row != no_row) prefetch_value(segment_, row);
    }

    const Segment &segment_;
    const Rows rows_;
    typename Rows::View view_;
    const int64_t *keys_;
    const int64_t count_;
    uint64_t found_[places]; // for each key what ask() gave, then its row
};

} // namespace ps
