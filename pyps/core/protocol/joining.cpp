// How a node joins the cluster, while keys have backups. The members begin an epoch in which it is one of them. From
// then on it is the home of some keys, about as many as other nodes have, and those that were never used are made here
// when they are. The others still live elsewhere: each owner offers it those of which it was the home itself until
// then, some at a time, and the new node localizes them while it has room. All other keys stay where they are used.
#include <algorithm>

#include "protocol.h"

namespace ps {

bool Protocol::knows_all_secure() const {
    const std::vector<NodeId> &members = homes_.rule().members();
    return !former_ && std::all_of(members.begin(), members.end(), [&](NodeId node) { return secure_[node]; });
}

// This node begins its first epoch. To all others it is the only one that is new in this.
void Protocol::join(const std::vector<NodeId> &members) {
    std::vector<NodeId> others;
    std::copy_if(members.begin(), members.end(), std::back_inserter(others),
                 [&](NodeId node) { return node != self_; });
    former_.emplace(*std::exchange(former_, std::nullopt), others);
}

// A node has become the home of keys whose home was here: those that are here are to go there.
void Protocol::note_moved_homes() {
    const std::vector<NodeId> &members = homes_.rule().members();
    const bool has_joined = std::any_of(members.begin(), members.end(),
                                        [&](NodeId node) { return !former_->rule().is_member(node); });
    if (!has_joined || leaves_) return;
    values_.for_each_here([&](Key key) {
        if (channel_.has(key) && owns(key) && former_->is_here(key) && !homes_.is_here(key))
            to_hand_over_.push_back(key);
    });
}

// Part of each round, on a node that stays.
void Protocol::spread() {
    if (former_) return;
    forget_taken();
    offer();
}

} // namespace ps
