#include "store/trace.h"

#include <time.h>

#include <algorithm>
#include <new>
#include <utility>

#include "segment/process.h"

namespace ps {

namespace {

// Since 1970, so that traces of several nodes can be compared, as exactly as their clocks agree.
int64_t now_ns() {
    timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return int64_t(now.tv_sec) * 1000000000 + now.tv_nsec;
}

} // namespace

Trace::Trace(const std::vector<Key> &keys) : keys_(keys.begin(), keys.end()), generation_(fork_generation()) {}

bool Trace::is_inherited() const { return generation_ != fork_generation(); }

void Trace::note(Key key, ps_trace_event_kind kind, NodeId to) noexcept {
    if (!follows(key)) return;
    std::lock_guard<std::mutex> lock(mutex_);
    if (events_.size() >= most_events) {
        events_.pop_front();
        forgotten_++;
    }
    try {
        events_.push_back({now_ns(), int64_t(key), int32_t(kind), to == no_node ? -1 : int32_t(to)});
    } catch (const std::bad_alloc &) { // without memory an event is dropped; the server goes on
        forgotten_++;
    }
}

void Trace::note(const std::vector<Key> &keys, ps_trace_event_kind kind) noexcept {
    for (Key key : keys) note(key, kind);
}

int64_t Trace::take(ps_trace_event *events, int64_t capacity, int64_t *forgotten) {
    std::lock_guard<std::mutex> lock(mutex_);
    int64_t count = std::min<int64_t>(capacity, int64_t(events_.size()));
    std::copy_n(events_.begin(), count, events);
    events_.erase(events_.begin(), events_.begin() + count);
    *forgotten = std::exchange(forgotten_, 0);
    return count;
}

} // namespace ps
