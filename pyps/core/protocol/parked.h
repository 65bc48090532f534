// Steps of keys that have to wait for a worker: it has the key's latch and does not move. A key's steps are done in the
// order in which they came. There are never more such keys than workers.
#pragma once

#include <functional>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

#include "messages.h"

namespace ps {

struct Step {
    std::function<void()> take;
    bool brings_key = false;
};

class Parked {
public:
    bool empty() const { return steps_.empty(); }
    bool count(Key key) const { return !steps_.empty() && steps_.count(key); }
    bool brings(Key key) const; // the key itself is among what waits
    bool holds_up(NodeId sender) const { return senders_.count(sender); } // something that it said waits

    void hear_from(NodeId sender) { sender_ = sender; } // the next steps are by its messages
    void add(Key key, Step step);
    std::vector<Key> keys() const;
    std::vector<Step> extract(Key key);
    void keep_what_brings_keys(); // and forget the rest

private:
    std::unordered_map<Key, std::vector<Step>> steps_;
    NodeId sender_ = no_node;
    std::set<NodeId> senders_; // until nothing waits any more
};

} // namespace ps
