// What nodes tell each other about the members of the cluster.
#pragma once

#include <tuple>
#include <vector>

#include "protocol/messages.h"

namespace ps {

// How it is known that a node was lost: a connection to it is refused; it is silent; another node says so; it says so
// itself; it has shut down; it, this node, has too few of the others left; the connection for messages to it broke.
enum class Evidence : uint16_t { refused, silent, told, failed, left, minority, broken };
constexpr Evidence last_evidence = Evidence::broken;

// "I am here, in this epoch; these I miss."
struct Alive {
    std::vector<NodeId> missing;
};

// To a node that was lost: why it is no member any more.
struct Lost {
    NodeId node;
    Evidence evidence;
};

// Proposals are tried in this order; round 0 is none.
struct Ballot {
    uint32_t round = 0;
    NodeId proposer = 0;

    bool operator<(const Ballot &other) const {
        return std::tie(round, proposer) < std::tie(other.round, other.proposer);
    }
    bool operator==(const Ballot &other) const { return round == other.round && proposer == other.proposer; }
};

// About the members of an epoch. prepare: promise to take part in nothing older than this ballot; promise: so it is,
// and this was accepted before (or the ballot that stands in the way); accept, accepted; decided: it is in force.
struct Vote {
    enum class Phase : uint16_t { prepare, promise, accept, accepted, decided };

    Phase phase;
    uint32_t epoch; // that it is about
    Ballot ballot;
    Ballot before;               // of a promise: what was accepted
    std::vector<NodeId> members; // of accept, decided, and a promise with `before`
};

} // namespace ps
