// What nodes tell each other about the members of the cluster.
#pragma once

#include <algorithm>
#include <tuple>
#include <vector>

#include "protocol/messages.h"

namespace ps {

inline bool has(const std::vector<NodeId> &nodes, NodeId node) {
    return std::find(nodes.begin(), nodes.end(), node) != nodes.end();
}

// How it is known that a node was lost.
enum class Evidence : uint16_t {
    refused, // its host refuses connections to it, as its process does not run any more
    silent, // nothing was heard of it for a while
    told, // another node says so
    failed, // it says so itself
    left, // it has shut down
    minority, // too few other nodes are left for it to go on
    broken, // the connection for messages to it broke
};
constexpr Evidence last_evidence = Evidence::broken;

// The sender is alive and misses these nodes. The epoch is in the message's header.
struct Alive {
    std::vector<NodeId> missing;
};

// To a member, from a node that asks to join, again and again: those that have answered it by an Alive. They have links
// to it then, and none of their keys lacks a backup.
struct Join {
    std::vector<NodeId> welcomed_by;
};

// From a member, to a node that asks to join and that some members have not answered: it asks all of these from then
// on.
struct Introduction {
    std::vector<NodeId> members;
};

// To a node that was lost: why it is no member any more.
struct Lost {
    NodeId node;
    Evidence evidence;
};

// A proposal's number: higher ones replace lower ones. A round of 0 means that there is none.
struct Ballot {
    uint32_t round = 0;
    NodeId proposer = 0;

    bool operator<(const Ballot &other) const {
        return std::tie(round, proposer) < std::tie(other.round, other.proposer);
    }
    bool operator==(const Ballot &other) const { return round == other.round && proposer == other.proposer; }
};

// A message of Paxos about the members of an epoch.
struct Vote {
    enum class Phase : uint16_t {
        prepare, // asks the receiver to promise that it takes part in no ballot below this one; about the present
                 // epoch: asks whether that is in force
        promise, // promises that, and names what the sender has accepted before; or names a higher ballot, to which it
                 // has promised this already
        accept, // asks the receiver to accept these members
        accepted, // the sender has accepted them
        decided, // the epoch has begun
    };

    Phase phase;
    uint32_t epoch; // the epoch that it is about
    Ballot ballot;
    Ballot before; // in a promise: the ballot that was accepted before; in a question and its answer: which one it is
    std::vector<NodeId> members; // in accept and decided, and in a promise with `before`
};

} // namespace ps
