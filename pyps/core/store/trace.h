// Records what happens to chosen keys on a node, so that a user can see where a key was, and why. Only the node's
// server writes it, as only the server moves keys: pulls and pushes of workers are not slowed down.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <unordered_set>
#include <vector>

#include "protocol/messages.h"
#include "ps.h"

namespace ps {

class Trace {
public:
    static constexpr size_t most_events = 1 << 20; // beyond these the oldest are dropped

    explicit Trace(const std::vector<Key> &keys); // an empty list: all keys

    bool is_inherited() const; // whether this is a forked child's copy; only the parent's server writes the trace
    void note(Key key, ps_trace_event_kind kind, NodeId to = no_node) noexcept; // ignores keys that it does not record
    void note(const std::vector<Key> &keys, ps_trace_event_kind kind) noexcept;

    // Hand over the oldest events; returns how many. `forgotten`: how many were dropped since the last call.
    int64_t take(ps_trace_event *events, int64_t capacity, int64_t *forgotten);

private:
    bool follows(Key key) const { return keys_.empty() || keys_.count(key); }

    const std::unordered_set<Key> keys_;
    const uint32_t generation_;
    std::mutex mutex_; // guards what follows
    std::deque<ps_trace_event> events_;
    int64_t forgotten_ = 0;
};

} // namespace ps
