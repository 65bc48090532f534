// Which nodes keep backups of the keys that live here: the nodes that follow this one. The backups of keys that have
// come from other nodes stay where they are. Nodes that leave are replaced in two steps, so that no node has a backup
// that is not the newest one: first others keep backups as well, then those that leave drop theirs.
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
        : self_(self), backups_(backups), staying_(std::move(members)), usual_(complete({}, false)) {}

    // Keepers that are not among these nodes are replaced, and those that leave get others beside them. Both are in
    // ascending order.
    void choose_among(std::vector<NodeId> staying, std::vector<NodeId> leaving) {
        staying_ = std::move(staying);
        leaving_ = std::move(leaving);
        drops_leaving_ = false;
        choose_again();
    }
    // Nodes that leave are no keepers any more, unless too few others are left. Keys whose backups are on their way
    // (busy) keep theirs for now: see drop_leaving(key).
    void drop_leaving(const std::vector<Key> &busy) {
        drops_leaving_ = true;
        std::vector<std::vector<NodeId>> kept;
        for (Key key : busy) kept.push_back(of(key));
        choose_again();
        for (size_t i = 0; i < busy.size(); i++) moved_[busy[i]] = kept[i];
    }
    bool drops_leaving() const { return drops_leaving_; }

    // Whether the keepers have changed since the last settle(), for a key that was here before.
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

    // For a key whose backups are no more on their way: call it after drop_leaving(busy). False: nothing has changed.
    bool drop_leaving(Key key) {
        if (!drops_leaving_ || leaving_.empty()) return false;
        auto found = moved_.find(key);
        if (found == moved_.end()) return false;
        const std::vector<NodeId> former = std::exchange(found->second, complete(found->second, false));
        return found->second != former;
    }

    // The key has come here, and these nodes keep backups. Returns whether its keepers stay the same.
    bool put(Key key, const std::vector<NodeId> &keepers) {
        std::vector<NodeId> all = complete(keepers, true);
        const bool has_all = all == keepers && (!drops_leaving_ || all == complete(keepers, false));
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

    void choose_again() {
        auto choose = [&](std::vector<NodeId> *keepers) {
            const std::vector<NodeId> former = std::exchange(*keepers, complete(*keepers, !drops_leaving_));
            return *keepers != former;
        };
        usual_changed_ |= choose(&usual_);
        for (auto &[key, keepers] : moved_)
            if (choose(&keepers)) changed_[key] = true;
    }

    // Those of the nodes that are members, and as many as are missing of those that follow this node.
    std::vector<NodeId> complete(const std::vector<NodeId> &keepers, bool keeps_leaving) const {
        std::vector<NodeId> all;
        for (NodeId node : keepers)
            if (contains(staying_, node)) all.push_back(node);
        add_from(staying_, &all);
        if (keeps_leaving)
            for (NodeId node : keepers)
                if (contains(leaving_, node)) all.push_back(node);
        add_from(leaving_, &all);
        std::sort(all.begin(), all.end());
        return all;
    }
    void add_from(const std::vector<NodeId> &nodes, std::vector<NodeId> *all) const {
        auto next = std::upper_bound(nodes.begin(), nodes.end(), self_);
        for (size_t left = nodes.size(); left > 0 && all->size() < backups_; left--) {
            if (next == nodes.end()) next = nodes.begin();
            if (*next != self_ && !contains(*all, *next)) all->push_back(*next);
            ++next;
        }
    }

    const NodeId self_;
    const size_t backups_;
    std::vector<NodeId> staying_, leaving_;
    bool drops_leaving_ = true;
    std::vector<NodeId> usual_;
    bool usual_changed_ = false; // since the last settle()
    FlatMap<bool> changed_;
    std::unordered_map<Key, std::vector<NodeId>> moved_; // keys whose backups are at other nodes than the usual ones
};

} // namespace ps
