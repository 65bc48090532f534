// What nodes tell each other about one key. Messages between two nodes arrive in the order in which they were sent;
// between different pairs nothing is promised. Values are bytes whose number follows from the key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

namespace ps {

using Key = uint64_t;
using NodeId = uint16_t;
using Bytes = std::vector<char>;

constexpr NodeId no_node = UINT16_MAX;
constexpr NodeId no_room = no_node - 1; // in place of a node that keys were lost with: there was no room for them

// A message that cannot come to where the key is; nothing was changed.
class Unexpected : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

enum class Operation : uint8_t { pull, push, set, localize }; // the last one is asked of a worker's own node

// Whom to answer: a worker's operation and the key's position in it.
struct Origin {
    NodeId node = no_node;
    uint32_t worker = 0;
    uint32_t position = 0;
    uint64_t operation = 0;
};

// One key of an operation, on its way to the key's owner.
struct Request {
    Operation operation;
    Origin origin;
    Bytes value; // empty for a pull
};

// A node's workers intend to use the key. A node numbers what it asks, so that answers to former questions are known.
struct Want {
    NodeId node;
    uint32_t number;
};

// What a node's workers added to its replica. The last one ends the replica.
struct Delta {
    NodeId node;
    uint32_t number;   // of the Want that made the replica
    uint64_t sequence; // of this replica, from 1
    bool last;
    Bytes value; // empty: nothing was added
};

// The owner's value for a replica; the first one makes it. `version` grows with every one that is sent for the key.
struct Refresh {
    NodeId owner;
    uint32_t number;
    uint64_t version;
    uint64_t applied; // the sequence of this replica's last delta that the value has
    Bytes value;
};

// The owner has forgotten the replica, or made none.
struct Ended {
    uint32_t number;
};

// To the home: the key is to live at `to`.
struct Localize {
    NodeId to;
};

// From the home to the owner, as the home knows it: hand the key to `to`.
struct Relocate {
    NodeId to;
};

// A replica, as the owner knows it.
struct Replica {
    NodeId node;
    uint32_t number;
    uint64_t applied;
    bool due = false; // it waits for a Refresh
};

// A delta that the value has already, though its message is still on its way.
struct Ghost {
    NodeId node;
    uint32_t number;
    uint64_t sequence;
};

// To the home, at the beginning of an epoch: the key is here; or it was lost with this node.
struct Holds {
    NodeId node;
    bool lost = false;
};

// From the home: the key was lost, with this node; or was never used, and the home has no room for it: no_room.
struct Gone {
    NodeId with;
};

// The key itself. There is one at any time: the owner's value, or this message.
struct Transfer {
    uint64_t version;
    std::vector<Replica> replicas;
    std::vector<Ghost> ghosts;
    Bytes value;
};

// Of many keys that are to move so many are told at once: the next node begins while the others are looked at.
constexpr size_t keys_at_once = 400;

// Transfers of many keys without replicas and ghosts, side by side.
struct Moves {
    std::vector<Key> keys;
    Bytes values; // one after another
};

} // namespace ps
