// The home of a key is a node that is computed from the key and the members of the cluster. It knows the key's owner,
// and all relocations pass it: that puts them in one order, the order of its messages to each owner. The keys of a node
// that was lost have their homes at the others.
#pragma once

#include <algorithm>
#include <vector>

#include "channels.h"
#include "divisor.h"
#include "messages.h"

namespace ps {

// Where a key has its home. Every member, and every worker, computes the same.
class HomeRule {
public:
    HomeRule(NodeId nodes, std::vector<NodeId> members)
        : nodes_(nodes), divisor_(nodes), members_(std::move(members)), is_member_(nodes) {
        for (NodeId node : members_) is_member_[node] = true;
    }

    NodeId base(Key key) const { return NodeId(key < Divisor::beyond ? divisor_.remainder(key) : key % nodes_); }
    NodeId home(Key key) const {
        NodeId node = base(key);
        if (members_.size() == nodes_ || is_member_[node]) return node;
        return members_[(key / nodes_) % members_.size()];
    }
    NodeId nodes() const { return nodes_; }
    const std::vector<NodeId> &members() const { return members_; }
    bool is_member(NodeId node) const { return is_member_[node]; }

private:
    NodeId nodes_;
    Divisor divisor_;
    std::vector<NodeId> members_;
    std::vector<bool> is_member_;
};

// Of the keys of one channel.
class Homes {
public:
    // All nodes are members, and each key lives at its home.
    Homes(NodeId self, NodeId nodes, uint64_t num_keys, const ChannelKeys &channel)
        : Homes(self, all_of(nodes), nodes, num_keys, channel, self) {}
    // It is not known yet where keys live.
    Homes(NodeId self, NodeId nodes, uint64_t num_keys, const ChannelKeys &channel, std::vector<NodeId> members)
        : Homes(self, std::move(members), nodes, num_keys, channel, unknown) {}

    const HomeRule &rule() const { return rule_; }
    NodeId home(Key key) const { return rule_.home(key); }
    bool is_here(Key key) const { return home(key) == self_; }

    void prefetch(Key key) const {
        if (rule_.base(key) == self_) __builtin_prefetch(&entry(key), 1);
    }

    // Of keys whose home is here.
    NodeId owner(Key key) const { return is_lost(key) ? no_node : entry(key); }
    void move(Key key, NodeId to) { entry(key) = to; } // or it was found there

    bool is_lost(Key key) const { return entry(key) & lost; }
    NodeId lost_with(Key key) const { return entry(key) & ~lost; }
    bool is_unknown(Key key) const { return entry(key) == unknown; }
    void lose(Key key, NodeId with) { entry(key) = lost | with; }

    template <class Body>
    void for_each(Body &&body) const { // of the keys whose home is here
        for (NodeId base = 0; base < rule_.nodes(); base++)
            if (base == self_ || !rule_.is_member(base))
                for (Key key = base; key < num_keys_; key += rule_.nodes())
                    if (is_here(key) && channel_.has(key)) body(key);
    }

private:
    // Of a key: its owner, or the node that it was lost with, or that nothing is known. Nodes are 4095 at most.
    using Entry = NodeId;
    static constexpr Entry lost = 1 << 15, unknown = lost - 1;

    Homes(NodeId self, std::vector<NodeId> members, NodeId nodes, uint64_t num_keys, const ChannelKeys &channel,
          Entry first)
        : self_(self), num_keys_(num_keys), channel_(channel), rule_(nodes, std::move(members)),
          entries_(channel.rule.count((num_keys + nodes - 1 - self) / nodes, channel.number), first),
          inherited_(nodes) {
        uint64_t each = num_keys / nodes / rule_.members().size() + 1;
        for (NodeId base = 0; base < nodes; base++)
            if (!rule_.is_member(base)) inherited_[base].assign(each, first);
    }
    static std::vector<NodeId> all_of(NodeId nodes) {
        std::vector<NodeId> all(nodes);
        for (NodeId node = 0; node < nodes; node++) all[node] = node;
        return all;
    }

    const Entry &entry(Key key) const { return const_cast<Homes *>(this)->entry(key); }
    Entry &entry(Key key) {
        NodeId base = rule_.base(key);
        if (base == self_) return entries_[channel_.rule.place(key / rule_.nodes())];
        return inherited_[base][key / rule_.nodes() / rule_.members().size()];
    }

    NodeId self_;
    uint64_t num_keys_;
    ChannelKeys channel_;
    HomeRule rule_;
    std::vector<Entry> entries_; // of the keys whose home is here as long as this node lives
    std::vector<std::vector<Entry>> inherited_; // of those of each node that was lost, of all channels
};

} // namespace ps
