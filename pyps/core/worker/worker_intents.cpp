// A worker's intents, and its clock, by which they begin and end.
#include "counting.h"
#include "errors.h"
#include "protocol/intent_trials.h"
#include "store/batch.h"
#include "store/room.h"
#include "worker/worker.h"

using namespace ps;

void ps_worker::intent(const int64_t *keys, int64_t num_keys, int64_t start, int64_t end) {
    auto held = lock();
    Segment &segment = require_open();
    check_keys(segment, keys, num_keys);
    end = end_of(start, end);
    if (num_keys == 0 || segment.header().places == 1 || skips(start, end)) return;
    const Load load = load_of_absent(segment, reinterpret_cast<const uint64_t *>(keys), uint64_t(num_keys));
    if (!segment.uses().are_kept() && !has_room(segment, Kept::alone, load))
        fail(PS_ENOMEM, Where{-1, int64_t(load.bytes()), int64_t(segment.header().memory_limit)},
             "the keys that are not on this node would take %llu bytes, and %llu of %llu, its memory_limit, are used",
             static_cast<unsigned long long>(load.bytes()), static_cast<unsigned long long>(used_memory(segment)),
             static_cast<unsigned long long>(segment.header().memory_limit));
    Deadline deadline(default_wait_timeout);
    remote(patience_, deadline.left()).make_room_for_intents(uint64_t(num_keys) * sizeof(Key), deadline.left());
    send_intent(keys, num_keys, start, end);
}

// The end of the clocks [start, end); an end of 0 means start + 1. Throws PS_EINVAL.
int64_t ps_worker::end_of(int64_t start, int64_t end) {
    if (start < 0)
        fail(PS_EINVAL, Where{-1, start, 0}, "the intent starts at clock %lld; clocks start at 0",
             static_cast<long long>(start));
    if (start == INT64_MAX)
        fail(PS_EINVAL, Where{-1, start, INT64_MAX - 1},
             "the intent starts at clock %lld, the last one there can be: no clock ends it",
             static_cast<long long>(start));
    if (end != 0 && end <= start)
        fail(PS_EINVAL, Where{-1, end, start}, "the intent ends at clock %lld, not after its start at %lld",
             static_cast<long long>(end), static_cast<long long>(start));
    return end ? end : start + 1;
}

void ps_worker::send_intent(const int64_t *keys, int64_t num_keys, int64_t start, int64_t end) {
    if (attachment_->segment->header().places > 1) remote().intent(keys, num_keys, start, end);
}

// Whether the node has found that such an intent does not pay; then it is counted.
bool ps_worker::skips(int64_t start, int64_t end) {
    Header &header = attachment_->segment->header();
    if (header.techniques != PS_AUTO || end - start > short_intent) return false;
    const int64_t ahead = end - int64_t(slot_.clock.load(std::memory_order_relaxed));
    if (ahead > header.told_ahead.load(std::memory_order_relaxed)) header.told_ahead.store(ahead);
    if (!header.skips_intents.load(std::memory_order_relaxed)) return false;
    count_in(header.intents_skipped, 1);
    return true;
}

int64_t ps_worker::advance_clock() {
    auto held = lock();
    require_open();
    int64_t now = int64_t(slot_.clock.fetch_add(1)) + 1;
    const Segment &segment = *attachment_->segment; // intents begin and end by clocks
    for (uint32_t channel = 0; channel < segment.header().num_channels; channel++)
        segment.wake_server(channel, Sleep::until_clocks);
    return now;
}

int64_t ps_worker::current_clock() {
    auto held = lock();
    require_open();
    return int64_t(slot_.clock.load(std::memory_order_acquire));
}
