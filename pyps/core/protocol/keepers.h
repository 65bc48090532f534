// Which nodes keep backups of the keys that live here: the nodes that follow this one. The backups of keys that have
// come from other nodes stay where they are.
#pragma once

#include <algorithm>
#include <unordered_map>
#include <utility>
#include <vector>

#include "flat_map.h"
#include "messages.h"

namespace ps {

class Keepers {
public:
    Keepers(NodeId self, NodeId backups, std::vector<NodeId> members)
        : self_(self), backups_(backups), members_(std::move(members)), usual_(complete({})) {}

    // Nodes that were lost are replaced.
    void begin_epoch(std::vector<NodeId> members) {
        members_ = std::move(members);
        std::vector<NodeId> former = std::exchange(usual_, complete({}));
        usual_changed_ |= usual_ != former;
        for (auto &[key, keepers] : moved_) {
            former = std::exchange(keepers, complete(keepers));
            if (keepers != former) changed_[key] = true;
        }
    }
    // Whether a node was replaced, for a key that was here before the epoch.
    bool has_new(Key key) const { return moved_.count(key) ? changed_.count(key) : usual_changed_; }
    void settle() {
        usual_changed_ = false;
        changed_ = {};
    }

    const std::vector<NodeId> &of(Key key) const {
        auto found = moved_.find(key);
        return found == moved_.end() ? usual_ : found->second;
    }
    const std::vector<NodeId> &usual() const { return usual_; } // of a key that is used for the first time here

    // The key has come here, and these nodes keep backups. Returns whether these are all that it needs.
    bool put(Key key, const std::vector<NodeId> &keepers) {
        std::vector<NodeId> all = complete(keepers);
        const bool has_all = std::all_of(all.begin(), all.end(), [&](NodeId node) { return contains(keepers, node); });
        if (all == usual_)
            moved_.erase(key);
        else
            moved_[key] = std::move(all);
        return has_all;
    }
    void forget(Key key) { moved_.erase(key); } // it is not here any more

private:
    static bool contains(const std::vector<NodeId> &nodes, NodeId node) {
        return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
    }

    // Those of the nodes that are members, and as many as are missing of those that follow this node.
    std::vector<NodeId> complete(const std::vector<NodeId> &keepers) const {
        std::vector<NodeId> all;
        for (NodeId node : keepers)
            if (contains(members_, node)) all.push_back(node);
        auto next = std::upper_bound(members_.begin(), members_.end(), self_);
        for (size_t left = members_.size(); left > 0 && all.size() < backups_; left--) {
            if (next == members_.end()) next = members_.begin();
            if (*next != self_ && !contains(all, *next)) all.push_back(*next);
            ++next;
        }
        std::sort(all.begin(), all.end());
        return all;
    }

    const NodeId self_;
    const size_t backups_;
    std::vector<NodeId> members_; // in ascending order
    std::vector<NodeId> usual_;
    bool usual_changed_ = false; // since the last settled epoch
    FlatMap<bool> changed_;
    std::unordered_map<Key, std::vector<NodeId>> moved_; // keys whose backups are at other nodes than the usual ones
};

} // namespace ps
