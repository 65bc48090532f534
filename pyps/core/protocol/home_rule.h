// Where keys have their homes. All members and all workers compute the same.
#pragma once

#include <utility>
#include <vector>

#include "divisor.h"
#include "key_space.h"
#include "messages.h"
#include "mixing.h"

namespace ps {

// A cluster has places for nodes, each with a number; at some there is no node yet, or no more. Each key belongs to a
// place, and its home is the node there. If there is none, the keys of the place are parted into shares, and each share
// has its home at the member for which a hash of both is the highest. So when a member comes or goes, no key changes
// its home but those that go to that member or were there.
class HomeRule {
public:
    static constexpr uint32_t shares = 64; // of each place

    HomeRule(NodeId places, std::vector<NodeId> members, const KeySpace &space)
        : places_(places), divisor_(places), space_(space), members_(std::move(members)), is_member_(places) {
        for (NodeId node : members_) is_member_[node] = true;
        if (members_.size() == places || members_.empty()) return;
        stand_ins_.resize(size_t(places) * shares);
        for (NodeId place = 0; place < places; place++)
            for (uint32_t share = 0; share < shares; share++)
                stand_ins_[place * shares + share] = is_member_[place] ? place : stand_in(place, share);
    }

    static HomeRule of_all(NodeId places, const KeySpace &space) { return {places, first_nodes(places), space}; }
    static std::vector<NodeId> first_nodes(NodeId count) {
        std::vector<NodeId> nodes(count);
        for (NodeId node = 0; node < count; node++) nodes[node] = node;
        return nodes;
    }

    NodeId home(Key key) const {
        const uint64_t turn = space_.turn(key), round = quotient(turn);
        const auto place = NodeId(turn - round * places_);
        return stand_ins_.empty() ? place : stand_ins_[place * shares + round % shares];
    }
    NodeId home(NodeId place, uint32_t share) const {
        return stand_ins_.empty() ? place : stand_ins_[place * shares + share];
    }
    NodeId place(Key key) const { return NodeId(space_.turn(key) - round(key) * places_); }
    // The keys of a place have numbers, of which a range's follow each other. Each 64th is of the same share.
    uint64_t round(Key key) const { return quotient(space_.turn(key)); }
    uint32_t share(Key key) const { return uint32_t(round(key) % shares); }

    template <class Body>
    void for_each_at(NodeId node, Body &&body) const { // the keys of a range whose home that member is
        auto each = [&](Key key, Key step) {
            for (; key < space_.num_keys(); key += step) body(key);
        };
        if (is_member_[node]) each(node, places_);
        for (NodeId place = 0; place < places_; place++)
            for (uint32_t share = 0; share < shares && !is_member_[place]; share++)
                if (home(place, share) == node) each(place + Key(places_) * share, Key(places_) * shares);
    }

    const KeySpace &space() const { return space_; }
    NodeId places() const { return places_; }
    const std::vector<NodeId> &members() const { return members_; }
    bool is_member(NodeId node) const { return is_member_[node]; }

private:
    uint64_t quotient(uint64_t turn) const { return turn < Divisor::beyond ? divisor_.quotient(turn) : turn / places_; }
    NodeId stand_in(NodeId place, uint32_t share) const {
        NodeId found = no_node;
        uint64_t highest = 0;
        for (NodeId member : members_) {
            const uint64_t number = mix(mix(uint64_t(place) * shares + share) + member);
            if (found != no_node && number <= highest) continue;
            found = member;
            highest = number;
        }
        return found;
    }

    NodeId places_;
    Divisor divisor_;
    KeySpace space_;
    std::vector<NodeId> members_;
    std::vector<bool> is_member_; // by node
    std::vector<NodeId> stand_ins_; // by place and share: the home; empty if all places have nodes
};

// Where keys live at first: at the homes that they have when the cluster starts, as long as these are their homes.
class FirstHomes {
public:
    FirstHomes(NodeId self, HomeRule rule) : self_(self), rule_(std::move(rule)) {}

    const HomeRule &rule() const { return rule_; }
    NodeId of(Key key) const { return rule_.home(key); }
    bool is_here(Key key) const { // and has been since the start
        return of(key) == self_ && (moved_.empty() || !moved_[index(rule_.place(key), rule_.share(key))]);
    }
    // Call it with the homes of each new epoch. A share of this node's may get another home, which makes its keys then;
    // later they may have their home here again.
    void begin_epoch(const HomeRule &rule) {
        for (NodeId place = 0; place < rule.places(); place++)
            for (uint32_t share = 0; share < HomeRule::shares; share++) {
                if (rule_.home(place, share) != self_ || rule.home(place, share) == self_) continue;
                moved_.resize(index(rule.places(), 0));
                moved_[index(place, share)] = true;
            }
    }

private:
    static size_t index(NodeId place, uint32_t share) { return size_t(place) * HomeRule::shares + share; }

    const NodeId self_;
    const HomeRule rule_;
    std::vector<bool> moved_; // by place and share; empty: none has
};

} // namespace ps
