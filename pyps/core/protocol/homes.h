// The home of a key is a node that is computed from the key. It knows the key's owner, and all relocations pass it:
// that puts them in one order.
#pragma once

#include <vector>

#include "messages.h"

namespace ps {

class Homes {
public:
    Homes(NodeId self, NodeId nodes, uint64_t num_keys)
        : self_(self), nodes_(nodes), entries_((num_keys + nodes - 1 - self) / nodes, Entry{self, 0}) {}

    NodeId home(Key key) const { return NodeId(key % nodes_); }
    bool is_here(Key key) const { return home(key) == self_; }

    void prefetch(Key key) const {
        if (is_here(key)) __builtin_prefetch(&entries_[key / nodes_], 1);
    }

    // Of keys whose home is here. At first they live here.
    NodeId owner(Key key) const { return NodeId(entries_[key / nodes_].owner); }
    uint64_t count(Key key) const { return entries_[key / nodes_].count; }
    void move(Key key, NodeId to) {
        Entry &entry = entries_[key / nodes_];
        entry = Entry{to, entry.count + 1};
    }

private:
    struct Entry {
        uint64_t owner : 16, count : 48; // of relocations
    };

    NodeId self_, nodes_;
    std::vector<Entry> entries_;
};

} // namespace ps
