// The home of a key is a node that is computed from the key and the members of the cluster. It knows the key's owner,
// and all relocations of the key go through it, so they have one order: that of the home's messages to each owner. Keys
// whose home was lost have their homes at the other nodes.
#pragma once

#include <algorithm>
#include <vector>

#include "channels.h"
#include "divisor.h"
#include "flat_map.h"
#include "messages.h"

namespace ps {

// Where a key has its home. All members and all workers compute the same.
class HomeRule {
public:
    HomeRule(NodeId nodes, std::vector<NodeId> members, const KeySpace &space)
        : nodes_(nodes), divisor_(nodes), space_(space), members_(std::move(members)), is_member_(nodes) {
        for (NodeId node : members_) is_member_[node] = true;
    }

    // The key's home as long as that node lives, and where the key lives at first.
    NodeId base(Key key) const {
        uint64_t turn = space_.turn(key);
        return NodeId(turn < Divisor::beyond ? divisor_.remainder(turn) : turn % nodes_);
    }
    NodeId home(Key key) const {
        NodeId node = base(key);
        if (members_.size() == nodes_ || is_member_[node]) return node;
        return members_[(space_.turn(key) / nodes_) % members_.size()];
    }
    const KeySpace &space() const { return space_; }
    NodeId nodes() const { return nodes_; }
    const std::vector<NodeId> &members() const { return members_; }
    bool is_member(NodeId node) const { return is_member_[node]; }

private:
    NodeId nodes_;
    Divisor divisor_;
    KeySpace space_;
    std::vector<NodeId> members_;
    std::vector<bool> is_member_;
};

// What a home knows of its keys in one channel. With a range each key has an entry. Where keys may be any numbers, only
// keys that have moved have one, and only these have to be looked for in a new epoch.
class Homes {
public:
    // At first all nodes are members, and each key lives at its home.
    Homes(NodeId self, NodeId nodes, const KeySpace &space, const ChannelKeys &channel)
        : Homes(self, HomeRule(nodes, all_of(nodes), space), channel, self) {}
    // The same keys with other members. Of keys that have entries it is not known yet where they live.
    Homes(const Homes &former, std::vector<NodeId> members)
        : Homes(former.self_, HomeRule(former.rule_.nodes(), std::move(members), former.rule_.space()), former.channel_,
                unknown) {
        former.moved_.for_each([&](Key key, Entry) {
            if (is_here(key)) moved_[key] = unknown;
        });
    }

    const HomeRule &rule() const { return rule_; }
    NodeId home(Key key) const { return rule_.home(key); }
    bool is_here(Key key) const { return home(key) == self_; }

    void prefetch(Key key) const {
        if (rule_.space().is_range() && rule_.base(key) == self_) __builtin_prefetch(&place(key), 1);
    }

    // These are for keys whose home is here.
    NodeId owner(Key key) const { return is_lost(key) ? no_node : entry(key); }
    void move(Key key, NodeId to) { put(key, to); } // the key moves to a node, or was found there in a new epoch
    void forget(Key key) { // the key is where it lived at first, here, as if it had never moved
        rule_.space().is_range() ? put(key, self_) : (void)moved_.erase(key);
    }

    // Whether more is known of the key than the rule says.
    bool has_entry(Key key) const { return rule_.space().is_range() || moved_.find(key); }
    bool is_lost(Key key) const { return entry(key) & lost; }
    NodeId lost_with(Key key) const { return entry(key) & ~lost; }
    bool is_unknown(Key key) const { return entry(key) == unknown; }
    void lose(Key key, NodeId with) { put(key, Entry(lost | with)); }

    template <class Body>
    void for_each(Body &&body) const { // the keys whose home is here and that have an entry
        if (!rule_.space().is_range()) return moved_.for_each([&](Key key, Entry) { body(key); });
        for (NodeId base = 0; base < rule_.nodes(); base++)
            if (base == self_ || !rule_.is_member(base))
                for (Key key = base; key < rule_.space().num_keys(); key += rule_.nodes())
                    if (is_here(key) && channel_.has(key)) body(key);
    }

private:
    // A key's owner; or the node with which it was lost, plus `lost`; or `unknown`. Nodes are below 4095.
    using Entry = NodeId;
    static constexpr Entry lost = 1 << 15, unknown = lost - 1;

    Homes(NodeId self, HomeRule rule, const ChannelKeys &channel, Entry first)
        : self_(self), channel_(channel), rule_(std::move(rule)), inherited_(rule_.nodes()) {
        if (!rule_.space().is_range()) return;
        const uint64_t num_keys = rule_.space().num_keys(), nodes = rule_.nodes();
        entries_.assign(channel.rule.count((num_keys + nodes - 1 - self) / nodes, channel.number), first);
        uint64_t each = num_keys / nodes / rule_.members().size() + 1;
        for (NodeId base = 0; base < nodes; base++)
            if (!rule_.is_member(base)) inherited_[base].assign(each, first);
    }
    static std::vector<NodeId> all_of(NodeId nodes) {
        std::vector<NodeId> all(nodes);
        for (NodeId node = 0; node < nodes; node++) all[node] = node;
        return all;
    }

    // For a key without an entry: it is where it lived at first, here or at a node that was lost.
    Entry first_entry(Key key) const {
        NodeId base = rule_.base(key);
        return base == self_ ? self_ : Entry(lost | base);
    }
    Entry entry(Key key) const {
        if (rule_.space().is_range()) return place(key);
        const Entry *found = moved_.find(key);
        return found ? *found : first_entry(key);
    }
    void put(Key key, Entry entry) {
        if (rule_.space().is_range())
            const_cast<Entry &>(place(key)) = entry;
        else
            moved_[key] = entry;
    }
    const Entry &place(Key key) const {
        NodeId base = rule_.base(key);
        if (base == self_) return entries_[channel_.rule.place(key / rule_.nodes())];
        return inherited_[base][key / rule_.nodes() / rule_.members().size()];
    }

    NodeId self_;
    ChannelKeys channel_;
    HomeRule rule_;
    std::vector<Entry> entries_; // a range's keys whose base is this node
    // By lost node: its keys that have their home here now, of all channels.
    std::vector<std::vector<Entry>> inherited_;
    FlatMap<Entry> moved_; // where keys may be any numbers
};

} // namespace ps
