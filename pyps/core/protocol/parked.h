// Steps that wait because a worker holds the key's latch and does not go on, perhaps because it was stopped. The steps
// of a key are done in the order in which they came. There are never more such keys than workers.
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
    bool brings(Key key) const; // whether a message with the key itself is among the waiting steps
    // Whether a step that came from this node waits.
    bool holds_up(NodeId sender) const { return senders_.count(sender); }

    void hear_from(NodeId sender) { sender_ = sender; } // the steps that are added next come from this node
    void add(Key key, Step step);
    std::vector<Key> keys() const;
    std::vector<Step> extract(Key key);
    void keep_what_brings_keys(); // forgets all other steps

private:
    std::unordered_map<Key, std::vector<Step>> steps_;
    NodeId sender_ = no_node;
    std::set<NodeId> senders_; // kept until no step waits any more
};

} // namespace ps
