// The home of a key is a node that is computed from the key and the members of the cluster. It knows the key's owner,
// and all relocations of the key go through it, so they have one order: that of the home's messages to each owner. When
// a node is lost, its keys get their homes at the other nodes; when one joins, it becomes the home of some.
#pragma once

#include <array>
#include <utility>
#include <vector>

#include "channels.h"
#include "flat_map.h"
#include "home_rule.h"

namespace ps {

// What a home knows of its keys in one channel. With a range each key has an entry. Where keys may be any numbers, only
// keys that have moved have one, and only these have to be looked for in a new epoch.
class Homes {
public:
    // At first each key lives at its home. `first` must outlive this.
    Homes(NodeId self, const FirstHomes &first, const ChannelKeys &channel)
        : Homes(self, first, first.rule(), channel, self) {}
    // The same keys with other members. Of keys that have entries it is not known yet where they live.
    Homes(const Homes &former, std::vector<NodeId> members)
        : Homes(former.self_, *former.first_, HomeRule(former.rule_.places(), std::move(members), former.rule_.space()),
                former.channel_, unknown) {
        lost_last_ = former.lost_last_;
        former.moved_.for_each([&](Key key, Entry) {
            if (is_here(key)) moved_[key] = unknown;
        });
    }

    const HomeRule &rule() const { return rule_; }
    NodeId home(Key key) const { return rule_.home(key); }
    bool is_here(Key key) const { return home(key) == self_; }

    void prefetch(Key key) const {
        if (rule_.space().is_range() && rule_.place(key) == self_) __builtin_prefetch(&range_entry(key), 1);
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
    // With which node a key may have been lost that has no entry and did not begin here: where it lived at first, or if
    // that is still there, the node that was lost last.
    NodeId unlisted_with(Key key) const {
        const NodeId first = first_->of(key);
        return rule_.is_member(first) ? lost_last_ : first;
    }
    void name_lost(NodeId last) { lost_last_ = last; }

    template <class Body>
    void for_each(Body &&body) const { // the keys whose home is here and that have an entry
        if (!rule_.space().is_range()) return moved_.for_each([&](Key key, Entry) { body(key); });
        rule_.for_each_at(self_, [&](Key key) {
            if (channel_.has(key)) body(key);
        });
    }

private:
    // A key's owner; or the node with which it was lost, plus `lost`; or `unknown`. Nodes are below 4095.
    using Entry = NodeId;
    static constexpr Entry lost = 1 << 15, unknown = lost - 1;

    // The shares of a place without a node that have their home here, and the entries of their keys, of all channels.
    struct Inherited {
        std::array<uint8_t, HomeRule::shares> number{}; // by share, among those that are here
        uint32_t count = 0;
        std::vector<Entry> entries;
    };

    Homes(NodeId self, const FirstHomes &first, HomeRule rule, const ChannelKeys &channel, Entry at_first)
        : self_(self), first_(&first), channel_(channel), rule_(std::move(rule)) {
        if (!rule_.space().is_range()) return;
        const uint64_t num_keys = rule_.space().num_keys(), places = rule_.places();
        if (rule_.is_member(self))
            entries_.assign(channel.rule.count((num_keys + places - 1 - self) / places, channel.number), at_first);
        inherited_.resize(places);
        for (NodeId place = 0; place < places; place++) {
            Inherited &here = inherited_[place];
            for (uint32_t share = 0; share < HomeRule::shares && !rule_.is_member(place); share++)
                if (rule_.home(place, share) == self) here.number[share] = uint8_t(here.count++);
            here.entries.assign((num_keys / places / HomeRule::shares + 1) * here.count, at_first);
        }
    }

    Entry first_entry(Key key) const { return first_->is_here(key) ? self_ : Entry(lost | unlisted_with(key)); }
    Entry entry(Key key) const {
        if (rule_.space().is_range()) return range_entry(key);
        const Entry *found = moved_.find(key);
        return found ? *found : first_entry(key);
    }
    void put(Key key, Entry entry) {
        if (rule_.space().is_range())
            const_cast<Entry &>(range_entry(key)) = entry;
        else
            moved_[key] = entry;
    }
    const Entry &range_entry(Key key) const {
        const uint64_t round = rule_.round(key);
        const NodeId place = rule_.place(key);
        if (place == self_) return entries_[channel_.rule.place(round)];
        const Inherited &here = inherited_[place];
        return here.entries[round / HomeRule::shares * here.count + here.number[round % HomeRule::shares]];
    }

    NodeId self_;
    const FirstHomes *first_;
    ChannelKeys channel_;
    HomeRule rule_;
    std::vector<Entry> entries_; // a range's keys of this node's own place
    std::vector<Inherited> inherited_; // by place
    FlatMap<Entry> moved_; // where keys may be any numbers
    NodeId lost_last_ = 0;
};

} // namespace ps
