// Operations that failed and whose caller was not told yet. Each failure is told once.
//
// A program may never ask, so memory is bounded: operations that failed one after another are kept as one stretch, and
// when there are too many stretches, the two earliest become one. An operation between them is then reported as failed
// though it may have been done, which PS_ELOST allows for. An operation that failed is never reported as done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>

#include "protocol/messages.h"

namespace ps {

class Failures {
public:
    static constexpr size_t most = 4096; // stretches

    bool empty() const { return stretches_.empty(); }
    size_t stretches() const { return stretches_.size(); }

    void add(int64_t timestamp, NodeId node) {
        auto next = stretches_.upper_bound(timestamp);
        if (next != stretches_.begin()) {
            auto last = std::prev(next);
            if (timestamp < last->second.end) return;
            if (timestamp == last->second.end && node == last->second.node) {
                last->second.end++;
                if (next != stretches_.end() && next->first == last->second.end && next->second.node == node) {
                    last->second.end = next->second.end;
                    stretches_.erase(next);
                }
                return;
            }
        }
        if (next != stretches_.end() && next->first == timestamp + 1 && next->second.node == node) {
            int64_t end = next->second.end;
            next = stretches_.erase(next);
            stretches_.emplace_hint(next, timestamp, Stretch{end, node});
            return;
        }
        stretches_.emplace_hint(next, timestamp, Stretch{timestamp + 1, node});
        keep_few();
    }

    // The node because of which the operation failed; no_node: it did not fail, or that was told already.
    NodeId take(int64_t timestamp) {
        auto found = stretches_.upper_bound(timestamp);
        if (found == stretches_.begin()) return no_node;
        --found;
        auto [end, node] = found->second;
        if (timestamp >= end) return no_node;
        if (timestamp + 1 < end) stretches_[timestamp + 1] = Stretch{end, node};
        if (found->first < timestamp)
            found->second.end = timestamp;
        else
            stretches_.erase(found);
        keep_few();
        return node;
    }

    NodeId take_all() { // the node of the first failure; there must be one
        NodeId node = stretches_.begin()->second.node;
        stretches_.clear();
        return node;
    }

private:
    struct Stretch {
        int64_t end; // the first timestamp that is not in it
        NodeId node;
    };

    void keep_few() {
        if (stretches_.size() <= most) return;
        auto first = stretches_.begin(), second = std::next(first);
        first->second.end = second->second.end;
        stretches_.erase(second);
    }

    std::map<int64_t, Stretch> stretches_; // by their first timestamp
};

} // namespace ps
