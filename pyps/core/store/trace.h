// What happened to chosen keys on a node, for people who want to see where a key was and why. The node's server writes
// it, as nobody else moves a key: a worker that pulls and pushes never meets it.
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
    static constexpr size_t most_events = 1 << 20; // kept; beyond it the oldest are forgotten

    explicit Trace(const std::vector<Key> &keys); // none: every key

    bool is_inherited() const; // by a forked child, whose parent's server writes it
    void note(Key key, ps_trace_event_kind kind, NodeId to = no_node) noexcept; // of a key that it follows or not
    void note(const std::vector<Key> &keys, ps_trace_event_kind kind) noexcept;

    // Hand over the oldest events; returns how many. `forgotten`: how many were lost since the last call.
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
