#include "store/batch.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "errors.h"
#include "store/push_rule.h"
#include "store/rows_ahead.h"

namespace ps {

namespace {

constexpr int most_looks = 4; // how often a reader looks at a value that others keep writing before it takes the latch

[[noreturn]] void fail_at_key(int64_t position, int64_t key, const Header &header) {
    const int64_t num_keys = header.num_keys;
    if (num_keys == 0 && header.num_classes > 1)
        fail(PS_EKEY, Where{position, key, 0},
             "key %lld at position %lld is of length class %u, but there are only %u, from 0: the topmost byte of a "
             "key is the number of its class, as classed_keys makes it",
             static_cast<long long>(key), static_cast<long long>(position), uint32_t(uint64_t(key) >> length_class_at),
             header.num_classes);
    if (num_keys == 0)
        fail(PS_EKEY, Where{position, key, 0},
             "key %lld at position %lld is none: keys are any 64-bit numbers but %lld", static_cast<long long>(key),
             static_cast<long long>(position), static_cast<long long>(no_key));
    fail(PS_EKEY, Where{position, key, num_keys}, "key %lld at position %lld is outside [0, %lld)",
         static_cast<long long>(key), static_cast<long long>(position), static_cast<long long>(num_keys));
}

[[noreturn]] void fail_changed(const Where &where = {}) {
    fail(PS_EINVAL, where, "the keys were changed during the call");
}

// Most values are short, and memcpy with a length that is not a constant is a call.
inline void copy_bytes(char *__restrict to, const char *__restrict from, uint64_t bytes) {
    if (bytes > 256) {
        std::memcpy(to, from, bytes);
        return;
    }
    uint64_t at = 0;
    for (; at + 16 <= bytes; at += 16) std::memcpy(to + at, from + at, 16);
    if (bytes & 8) {
        std::memcpy(to + at, from + at, 8);
        at += 8;
    }
    for (; at + 2 <= bytes; at += 2) std::memcpy(to + at, from + at, 2);
}

// Copies memory that others may be writing: a race, which the caller notices afterwards.
#if defined(__SANITIZE_THREAD__)
[[gnu::noinline, gnu::no_sanitize("thread")]] void copy_glanced(char *to, const volatile char *from, uint64_t bytes) {
    for (uint64_t at = 0; at < bytes; at++) to[at] = from[at];
}
#else
inline void copy_glanced(char *to, const char *from, uint64_t bytes) { copy_bytes(to, from, bytes); }
#endif

bool is_closed_at_a_glance(const SharedHead *head) { // of a slot that may be another key's meanwhile
    uint16_t is_closed = 0;
    copy_glanced(reinterpret_cast<char *>(&is_closed), reinterpret_cast<const char *>(&head->is_closed),
                 sizeof is_closed);
    return is_closed;
}

struct Pull {
    static constexpr bool writes = false;
    void operator()(char *value, char *buffer, const LengthClass &c) const {
        copy_glanced(buffer, value, c.value_bytes);
    }
};

// Does what the rule for sets does, but inlined into the loop. A value that is set has no history.
struct Set {
    static constexpr bool writes = true;
    const Rules &rules;
    const Rule &rule() const { return rules[set_rule]; }
    void operator()(char *value, char *buffer, const LengthClass &c) const {
        copy_bytes(value, buffer, c.value_bytes);
        if (c.state_at) std::memset(Segment::state(value, c), 0, c.whole_bytes - c.state_at);
    }
};

// All keys of a batch have the same rule, so it is looked up once, outside the loop.
struct Push {
    static constexpr bool writes = true;
    const Rule &followed;
    const Apply apply;
    RuleSettings &settings;

    Push(const Segment &segment, RuleSettings &settings)
        : followed(segment.rule()), apply(followed.apply[segment.header().dtype]), settings(settings) {}
    const Rule &rule() const { return followed; }
    void operator()(char *value, char *buffer, const LengthClass &c) const {
        apply(value, buffer, c.length, Segment::state(value, c), settings);
    }
};

// Add a push to the delta that a replica collects for the owner.
void collect(SharedHead *head, const LengthClass &c, const char *delta, Merge merge) {
    char *collected = Segment::delta(head, c);
    if (head->has_delta())
        merge(collected, delta, c.length);
    else
        std::memcpy(collected, delta, c.value_bytes);
}

// Do it on a shared key, under its latch. What is done to a replica is collected for its owner as well. False: a
// replica cannot collect it, or is closed, so only the owner can do it.
template <class Action>
[[gnu::noinline]] bool run_shared(const Segment &segment, SharedHead *head, Latches &latches, Row row,
                                  const LengthClass &c, char *buffer, Action action) {
    if (head->is_closed.load(std::memory_order_acquire)) return false;
    char *value = Segment::value(head);
    if constexpr (Action::writes) {
        const Rule &rule = action.rule();
        Merge merge = rule.merge[segment.header().dtype];
        if (head->is_replica && !merge) return false;
        latches.keep_for_undo(row, reinterpret_cast<const char *>(head), c.shared_bytes);
        if (!head->is_replica || rule.at_replicas) action(value, buffer, c);
        if (head->is_replica) collect(head, c, buffer, merge);
        if (!head->changed) {
            head->changed = 1;
            segment.note_changed(row);
        }
        latches.drop_undo();
    } else {
        action(value, buffer, c);
    }
    return true;
}

// Do it on one key, under its latch. False: it does not live here.
template <class Action>
inline bool run_key(const Segment &segment, Latches &latches, Row row, Place place, const LengthClass &c, char *buffer,
                    bool may_share, Action action) {
    if (__builtin_expect(place.residence() != Residence::owned, 0))
        return place.residence() == Residence::shared && may_share &&
               run_shared(segment, segment.shared(c, place.index()), latches, row, c, buffer, action);
    char *value = segment.value(c, place.index());
    if (!Action::writes) {
        action(value, buffer, c);
        return true;
    }
    latches.keep_for_undo(row, value, c.whole_bytes);
    action(value, buffer, c);
    latches.drop_undo();
    return true;
}

// The result for one key of a batch. has_no_row: it was deleted meanwhile. does_not_fit: into the rest of the buffer.
enum class Visit { done, lives_elsewhere, has_no_row, does_not_fit, busy };

// The row was found for the key, but may have gone to another one since.
template <class Rows, class Action>
inline Visit visit_latched(const Rows &rows, const Segment &segment, Latches &latches, Row row, uint64_t key,
                           Patience patience, bool may_share, char *buffer, uint64_t room, Action action,
                           const LengthClass **c) {
    Place place(0);
    if (!latches.acquire(row, patience, &place)) return Visit::busy;
    if (!rows.is_of(row, key)) {
        latches.release(row, place);
        return Visit::has_no_row;
    }
    *c = &segment.length_class(place.length_class());
    const bool fits = (*c)->value_bytes <= room;
    const bool done = fits && run_key(segment, latches, row, place, **c, buffer, may_share, action);
    latches.release(row, place);
    return done ? Visit::done : fits ? Visit::lives_elsewhere : Visit::does_not_fit;
}

// The same without the latch. busy: others write this value all the time, or one of them has stopped with the latch.
template <class Rows, class Action>
inline Visit visit_at_a_glance(const Rows &rows, const Segment &segment, Row row, uint64_t key, bool may_share,
                               char *buffer, uint64_t room, Action action, const LengthClass **c) {
    static_assert(!Action::writes);
    for (int look = 0; look < most_looks; look++) {
        const Glance glance(segment, row);
        const Place place = glance.place();
        if (!rows.is_of(row, key)) return Visit::has_no_row; // looked at after the entry, so it holds if that is steady
        if (place.is_held()) continue;
        *c = &segment.length_class(place.length_class());
        if ((*c)->value_bytes > room) return Visit::does_not_fit;
        if (!place.is_here()) return Visit::lives_elsewhere;
        if (place.residence() == Residence::shared &&
            (!may_share || is_closed_at_a_glance(segment.shared(**c, place.index()))))
            return Visit::lives_elsewhere;
        action(segment.value(place), buffer, **c);
        if (__builtin_expect(glance.was_steady(), 1)) return Visit::done;
    }
    return Visit::busy;
}

template <class Rows, class Action, class Notes>
int32_t run_rows(const Rows &all, Segment &segment, Latches &latches, ps_request &request, Elsewhere *elsewhere,
                 Action action, Notes notes) {
    const int64_t *keys = request.keys;
    const int64_t count = request.num_keys, done = request.done;
    const uint64_t element = segment.header().element_bytes;
    const bool for_server = elsewhere && elsewhere->for_server;
    const Patience patience = for_server                  ? Patience::give_way
                              : request.flags & PS_NOWAIT ? Patience::try_briefly
                                                          : Patience::wait;
    char *buffer = static_cast<char *>(request.values);
    char *const end = buffer + uint64_t(request.num_values) * element;
    buffer += uint64_t(total_length(segment, keys, done)) * element;
    if (buffer > end) fail_changed();

    RowsAhead<Rows, Action::writes ? Ahead::values_to_write : Ahead::values> rows(segment, all, keys, done, count);
    for (int64_t i = done; i < count; i++) {
        const Row row = rows.take(i);
        if constexpr (Notes::are_kept) notes.prefetch(rows.soon(i));
        if (row == no_row && !Rows::has_slots) fail_at_key(i, keys[i], segment.header());
        request.done = i;
        const uint64_t room = uint64_t(end - buffer);
        const auto key = uint64_t(keys[i]);
        const LengthClass *c = nullptr;
        Visit visit = Visit::busy;
        if (Rows::has_slots && row == no_row) {
            visit = Visit::has_no_row;
        } else {
            notes.begin(row);
            if constexpr (!Action::writes)
                visit = visit_at_a_glance(all, segment, row, key, !for_server, buffer, room, action, &c);
            if (Action::writes || __builtin_expect(visit == Visit::busy, 0))
                visit = visit_latched(all, segment, latches, row, key, patience, !for_server, buffer, room, action, &c);
        }
        if (__builtin_expect(visit != Visit::done, 0)) {
            if (visit == Visit::has_no_row) {
                if (!elsewhere) return PS_ENOTLOCAL;
                c = &segment.class_of(key);
                if (c->value_bytes > room) fail_changed(Where{i, keys[i], 0});
            }
            if (visit == Visit::does_not_fit) fail_changed(Where{i, keys[i], 0});
            if (visit == Visit::busy && !for_server) return PS_EBUSY;
            if (visit == Visit::busy) {
                // So that a key that comes twice keeps its order.
                for (; i < count; i++) elsewhere->positions.push_back(i);
                break;
            }
            if (!elsewhere) return PS_ENOTLOCAL;
            elsewhere->positions.push_back(i);
        } else {
            notes.note(row);
        }
        buffer += c->value_bytes;
    }
    request.done = count;
    return PS_OK;
}

template <class Action>
int32_t run_keys(Segment &segment, Latches &latches, ps_request &request, Elsewhere *elsewhere, Action action) {
    const Header &header = segment.header();
    if (header.is_range() && header.places == 1)
        return run_rows(OwnRows(uint64_t(header.num_keys)), segment, latches, request, elsewhere, action, NoNotes{});
    return segment.with_rows([&](const auto &rows) {
        if constexpr (std::decay_t<decltype(rows)>::has_slots)
            if (segment.uses().are_kept() || segment.ages().are_kept())
                return run_rows(rows, segment, latches, request, elsewhere, action,
                                UseNotes(segment.uses(), segment.ages(), Action::writes));
        return run_rows(rows, segment, latches, request, elsewhere, action, NoNotes{});
    });
}

} // namespace

void check_keys(const Segment &segment, const int64_t *keys, int64_t num_keys) {
    if (num_keys < 0 || (num_keys > 0 && !keys))
        fail(PS_EINVAL, Where{-1, num_keys, 0}, "%lld keys at address %p", static_cast<long long>(num_keys),
             static_cast<const void *>(keys));
    const KeySpace space = segment.key_space();
    bool wrong = false;
    for (int64_t i = 0; i < num_keys; i++) wrong |= !space.has(uint64_t(keys[i]));
    if (!wrong) return;
    const int64_t *first = std::find_if(keys, keys + num_keys, [=](int64_t key) { return !space.has(uint64_t(key)); });
    if (first < keys + num_keys) fail_at_key(first - keys, *first, segment.header());
    fail_changed();
}

int64_t total_length(const Segment &segment, const int64_t *keys, int64_t num_keys) {
    const Header &header = segment.header();
    if (header.value_length) return num_keys * header.value_length;
    const KeySpace space = segment.key_space();
    int64_t total = 0;
    for (int64_t i = 0; i < num_keys; i++) {
        if (!space.has(uint64_t(keys[i]))) fail_at_key(i, keys[i], header);
        total += segment.class_of(uint64_t(keys[i])).length;
    }
    return total;
}

void check_request(const Segment &segment, const ps_request &request) {
    if (request.operation < PS_PULL || request.operation > PS_SET)
        fail(PS_EINVAL, Where{-1, request.operation, PS_SET}, "operation %d is unknown", request.operation);
    if (request.done < 0 || request.done > request.num_keys)
        fail(PS_EINVAL, Where{-1, request.done, request.num_keys}, "a request with %lld keys cannot go on at %lld",
             static_cast<long long>(request.num_keys), static_cast<long long>(request.done));
    check_keys(segment, request.keys, request.num_keys);
    int64_t wanted = total_length(segment, request.keys, request.num_keys);
    if (request.num_values != wanted)
        fail(PS_ESIZE, Where{-1, request.num_values, wanted},
             "the buffer has %lld elements, the values of these %lld keys have %lld",
             static_cast<long long>(request.num_values), static_cast<long long>(request.num_keys),
             static_cast<long long>(wanted));
    uint32_t element = segment.header().element_bytes;
    if (wanted && (!request.values || reinterpret_cast<uintptr_t>(request.values) % element))
        fail(PS_EINVAL, Where{}, "the buffer's address %p is not aligned to an element of %u bytes", request.values,
             element);
    if (request.operation == PS_PULL && overlap(request.keys, request.num_keys * 8, request.values, wanted * element))
        fail(PS_EINVAL, Where{}, "the buffer for the values overlaps the keys: pull into another one");
}

namespace {

// Whether all keys have their values here, or all have them elsewhere. The caller may change the keys at any time; a
// number that is no key counts as elsewhere.
template <class Rows>
bool are_all(const Segment &segment, const Rows &all, const int64_t *keys, int64_t num_keys, bool here) {
    auto is_so = [&](Row row) { return (row != no_row && segment.place(row).is_here()) == here; };
    if (num_keys == 0) return true;
    if (!is_so(all.find(uint64_t(keys[0])))) return false; // often enough to end, without prefetching
    RowsAhead<Rows, Ahead::entries> rows(segment, all, keys, 0, num_keys);
    for (int64_t i = 0; i < num_keys; i++)
        if (!is_so(rows.take(i))) return false;
    return true;
}

} // namespace

bool all_local(const Segment &segment, const int64_t *keys, int64_t num_keys) {
    return segment.with_rows([=, &segment](const auto &rows) { return are_all(segment, rows, keys, num_keys, true); });
}

bool none_local(const Segment &segment, const int64_t *keys, int64_t num_keys) {
    return segment.with_rows([=, &segment](const auto &rows) { return are_all(segment, rows, keys, num_keys, false); });
}

bool overlap(const void *a, int64_t a_bytes, const void *b, int64_t b_bytes) {
    auto x = reinterpret_cast<uintptr_t>(a), y = reinterpret_cast<uintptr_t>(b);
    return a_bytes > 0 && b_bytes > 0 && x < y + uint64_t(b_bytes) && y < x + uint64_t(a_bytes);
}

// A stripe is a row of keys of which each home has here_block rows.
static bool any_in_stripe(const Segment &segment, int64_t first) {
    const int64_t num_keys = segment.header().num_keys, nodes = segment.header().places;
    const int64_t last = std::min(first + int64_t(here_block) * nodes, num_keys) - 1;
    const RangeRows &rows = segment.rows();
    for (int64_t i = 0; i < nodes && first + i < num_keys; i++) // a stripe's rows at one home may lie in two blocks
        if (segment.keys_here(rows.row(uint64_t(first + i))) ||
            segment.keys_here(rows.row(uint64_t(std::max(first, last - i)))))
            return true;
    return false;
}

// Skips blocks without keys that are here: reading their entries would allocate memory for them.
int64_t next_local(const Segment &segment, int64_t from, int64_t to) {
    const int64_t stripe = int64_t(here_block) * segment.header().places;
    for (int64_t end; from < to;) {
        for (end = std::min(to, (from / stripe + 1) * stripe); from < end; from++) {
            Row row = segment.rows().row(uint64_t(from));
            if (segment.keys_here(row) && segment.place(row).is_here()) return from;
        }
        while (from < to && !any_in_stripe(segment, from)) from += stripe;
    }
    return to;
}

int32_t run_local(Segment &segment, Latches &latches, ps_request &request, Elsewhere *elsewhere) {
    switch (request.operation) {
    case PS_PULL: return run_keys(segment, latches, request, elsewhere, Pull{});
    case PS_SET: return run_keys(segment, latches, request, elsewhere, Set{segment.rules()});
    default: break;
    }
    RuleSettings settings = segment.settings();
    return run_keys(segment, latches, request, elsewhere, Push(segment, settings));
}

bool run_latched(Segment &segment, Latches &latches, Row row, Place place, int32_t operation, char *value) {
    const LengthClass &c = segment.length_class(place.length_class());
    switch (operation) {
    case PS_PULL: return run_key(segment, latches, row, place, c, value, true, Pull{});
    case PS_SET: return run_key(segment, latches, row, place, c, value, true, Set{segment.rules()});
    default: break;
    }
    RuleSettings settings = segment.settings();
    return run_key(segment, latches, row, place, c, value, true, Push(segment, settings));
}

} // namespace ps
