// The nodes that leave, as another node knows them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "messages.h"

namespace ps {

class Leavers {
public:
    explicit Leavers(NodeId nodes) : nodes_(nodes) {}

    // A member that leaves still does, but what all have said about that is over.
    void begin_epoch(const std::vector<NodeId> &members) {
        count_ = 0;
        const std::vector<Node> former = std::exchange(nodes_, std::vector<Node>(nodes_.size()));
        for (size_t node = 0; node < nodes_.size(); node++) nodes_[node].has_emptied = former[node].has_emptied;
        for (NodeId node : members)
            if (former[node].leaves) note(node);
    }

    bool note(NodeId leaver) { // false: it was known
        if (nodes_[leaver].leaves) return false;
        nodes_[leaver].leaves = true;
        count_++;
        return true;
    }
    void note_avoided(NodeId leaver, NodeId by) { // by a node that may have heard of the leaver before this one
        nodes_[leaver].avoided_by.resize(nodes_.size());
        nodes_[leaver].avoided_by[by] = true;
    }
    void note_asks(NodeId leaver, bool asks) { nodes_[leaver].asks = asks; } // whether it may go
    void note_emptied(NodeId leaver) { nodes_[leaver].has_emptied = true; }

    bool has(NodeId node) const { return nodes_[node].leaves; }
    bool asks(NodeId leaver) const { return nodes_[leaver].asks; }
    bool any() const { return count_ > 0; }
    bool has_emptied(NodeId node) const { return nodes_[node].has_emptied; }
    bool is_avoided_by(NodeId leaver, const std::vector<NodeId> &nodes) const {
        const std::vector<bool> &by = nodes_[leaver].avoided_by;
        return std::all_of(nodes.begin(), nodes.end(), [&](NodeId node) { return node < by.size() && by[node]; });
    }

    template <class Body>
    void for_each(Body &&body) const {
        for (size_t node = 0; node < nodes_.size(); node++)
            if (nodes_[node].leaves) body(NodeId(node));
    }

private:
    struct Node {
        bool leaves = false, asks = false, has_emptied = false;
        std::vector<bool> avoided_by;
    };

    std::vector<Node> nodes_;
    size_t count_ = 0; // of those that leave
};

} // namespace ps
