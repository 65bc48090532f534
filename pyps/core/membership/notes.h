// What nodes tell each other about the members of the cluster.
#pragma once

#include <tuple>
#include <vector>

#include "protocol/messages.h"

namespace ps {

// How it is known that a node was lost: a connection to it is refused; it is silent; another node says so; it says so
// itself; it has shut down; too few other nodes are left for it to go on; the connection for messages to it broke.
enum class Evidence : uint16_t { refused, silent, told, failed, left, minority, broken };
constexpr Evidence last_evidence = Evidence::broken;

// The sender is alive and misses these nodes. The epoch is in the message's header.
struct Alive {
    std::vector<NodeId> missing;
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

// A message of Paxos about the members of an epoch. prepare: promise to take part in no ballot below this one. promise:
// it is promised, and this was accepted before (or: a higher ballot was promised, this one). accept: accept these
// members. accepted: they are. decided: the epoch has begun.
struct Vote {
    enum class Phase : uint16_t { prepare, promise, accept, accepted, decided };

    Phase phase;
    uint32_t epoch; // the epoch that it is about
    Ballot ballot;
    Ballot before; // in a promise: the ballot that was accepted before
    std::vector<NodeId> members; // in accept and decided, and in a promise with `before`
};

} // namespace ps
