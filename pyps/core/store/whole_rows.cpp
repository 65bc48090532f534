#include "store/whole_rows.h"

#include <algorithm>
#include <cstring>

#include "errors.h"
#include "protocol/homes.h"
#include "store/batch.h"

namespace ps {

namespace {

void check(const Segment &segment, const RowBatch &batch) {
    check_keys(segment, batch.keys, batch.num_keys);
    if (batch.num_keys && !batch.here) fail(PS_EINVAL, Where{}, "here is null");
    int64_t wanted = 0;
    for (int64_t i = 0; batch.rows && i < batch.num_keys; i++)
        wanted += int64_t(segment.whole_bytes(uint64_t(batch.keys[i])));
    if (batch.bytes != wanted)
        fail(PS_ESIZE, Where{-1, batch.bytes, wanted}, "the rows have %lld bytes, those of these %lld keys have %lld",
             static_cast<long long>(batch.bytes), static_cast<long long>(batch.num_keys),
             static_cast<long long>(wanted));
}

// Calls body(row, class, head, at) for each key that lives here, under its latch: `head` is null unless the key is
// shared, and `at` is its place in the batch.
template <class Body>
void visit(const Segment &segment, Latches &latches, const RowBatch &batch, Body &&body) {
    check(segment, batch);
    char *at = batch.rows;
    for (int64_t i = 0; i < batch.num_keys; i++) {
        const auto key = uint64_t(batch.keys[i]);
        if (!segment.key_space().has(key)) fail(PS_EINVAL, Where{}, "the keys were changed during the call");
        const LengthClass &c = segment.class_of(key);
        if (at && c.whole_bytes > uint64_t(batch.rows + batch.bytes - at))
            fail(PS_EINVAL, Where{}, "the keys were changed during the call");
        const Row row = segment.row(key);
        batch.here[i] = 0;
        // Reading the entry of a key in a block without keys would allocate memory for it.
        if (row != no_row && segment.keys_here(row) && segment.place(row).is_here()) {
            Place place(0);
            latches.acquire(row, Patience::wait, &place);
            SharedHead *head = place.residence() == Residence::shared ? segment.shared(c, place.index()) : nullptr;
            batch.here[i] = segment.is_of(row, key) && place.is_here() && !(head && head->is_replica);
            if (batch.here[i] && at) body(row, c, head, at);
            latches.release(row, place);
        }
        if (at) at += c.whole_bytes;
    }
}

// The memory of a replica may be given back while it is looked at, so the row is looked at until it stays as it is.
bool lives_here(const Segment &segment, Row row) {
    for (;;) {
        const Glance glance(segment, row);
        const Place place = glance.place();
        if (!place.is_here()) return false;
        if (place.residence() == Residence::owned) return true;
        const LengthClass &c = segment.length_class(place.length_class());
        const bool is_replica = segment.shared(c, place.index())->is_replica;
        if (place.is_held() || glance.was_steady()) return !is_replica;
    }
}

} // namespace

void read_rows(const Segment &segment, Latches &latches, const RowBatch &batch) {
    visit(segment, latches, batch, [&](Row row, const LengthClass &c, SharedHead *, char *to) {
        std::memcpy(to, segment.value(segment.place(row)), c.whole_bytes);
    });
}

void write_rows(const Segment &segment, Latches &latches, const RowBatch &batch) {
    visit(segment, latches, batch, [&](Row row, const LengthClass &c, SharedHead *head, const char *from) {
        char *value = segment.value(segment.place(row));
        if (head)
            latches.keep_for_undo(row, reinterpret_cast<const char *>(head), c.shared_bytes);
        else
            latches.keep_for_undo(row, value, c.whole_bytes);
        std::memcpy(value, from, c.whole_bytes);
        const bool is_news = head && !head->changed; // for replicas
        if (is_news) head->changed = 1;
        if (is_news || segment.header().replicas) segment.note_changed(row);
        latches.drop_undo();
    });
}

int64_t find_keys(const Segment &segment, int32_t which, int64_t *next, int64_t *keys, int64_t capacity) {
    const Header &header = segment.header();
    if (which != PS_KEYS_HERE && which != PS_KEYS_BEGUN)
        fail(PS_EINVAL, Where{-1, which, PS_KEYS_BEGUN}, "%d is no kind of keys", which);
    if (*next < 0 || capacity < 1) fail(PS_EINVAL, Where{}, "there is no place for keys, or none to begin at");
    const HomeRule homes = segment.homes_now();
    auto is_wanted = [&](uint64_t key, Row row) {
        return which == PS_KEYS_BEGUN ? homes.home(Key(key)) == header.node
                                      : segment.keys_here(row) && lives_here(segment, row);
    };
    int64_t count = 0;
    if (header.is_range() && which == PS_KEYS_BEGUN) {
        for (; *next < header.num_keys && count < capacity; ++*next)
            if (homes.home(Key(*next)) == header.node) keys[count++] = *next;
    } else if (header.is_range()) {
        for (; count < capacity && (*next = next_local(segment, *next, header.num_keys)) < header.num_keys; ++*next)
            if (lives_here(segment, segment.rows().row(uint64_t(*next)))) keys[count++] = *next;
    } else {
        segment.with_rows([&](const auto &rows) {
            if constexpr (std::decay_t<decltype(rows)>::has_slots)
                for (; uint64_t(*next) < rows.count() && count < capacity; ++*next) {
                    const Row row{uint64_t(*next) * HashedRows::row_words};
                    const uint64_t key = rows.key(row);
                    if (rows.find(key) == row && is_wanted(key, row)) keys[count++] = int64_t(key);
                }
        });
    }
    return count;
}

} // namespace ps
