// The messages between nodes about one key. Messages between two nodes arrive in the order in which they were sent;
// between different pairs nothing is promised. Values are bytes, whose number follows from the key.
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
// Used in place of the node that keys were lost with: there is no room for the keys.
constexpr NodeId no_room = no_node - 1;
// The same for what is no loss: the key was used too few times to get a row.
constexpr NodeId not_admitted = no_node - 2;

// Thrown for a message that cannot be right in the state that the key is in; nothing was changed.
class Unexpected : public std::logic_error {
public:
    using std::logic_error::logic_error;
};

// localize: only from a worker to its own node. The last two are about rows, and go to the keys' homes: whether a key
// has a row anywhere; and that it is to have none any more, answered by whether it had one.
enum class Operation : uint8_t { pull, push, set, localize, contains, erase };
constexpr Operation last_operation = Operation::erase;
constexpr bool is_write(Operation operation) { return operation == Operation::push || operation == Operation::set; }
constexpr bool is_about_rows(Operation operation) { return operation >= Operation::contains; }
// Whether each key must be sent to its own channel: two sets of a key keep their order.
constexpr bool goes_by_channel(Operation operation) { return operation == Operation::set || is_about_rows(operation); }
// Whether the answer has something for each key.
constexpr bool has_answer(Operation operation) { return operation == Operation::pull || is_about_rows(operation); }

// What to answer: a worker's operation, and the key's position in it.
struct Origin {
    NodeId node = no_node;
    uint32_t worker = 0;
    uint32_t position = 0;
    uint64_t operation = 0;
    uint32_t behind = 0; // so many operations before this one, and all earlier ones, may not be answered yet
};

inline bool operator==(const Origin &a, const Origin &b) {
    return a.node == b.node && a.worker == b.worker && a.position == b.position && a.operation == b.operation;
}

// One key of an operation, on its way to the key's owner.
struct Request {
    Operation operation;
    Origin origin;
    Bytes value; // empty for a pull
};

// A node's workers intend to use the key. Nodes number their requests, so that an answer to a former one is recognized.
struct Want {
    NodeId node;
    uint32_t number;
};

// What a node's workers pushed to its replica. The last delta ends the replica.
struct Delta {
    NodeId node;
    uint32_t number; // the number of the Want that made the replica
    uint64_t sequence = 0; // counts the replica's deltas, from 1
    bool last = false;
    Bytes value = {}; // empty if nothing was pushed
    bool is_part = false; // the value may be one of which a rest stayed at the replica
};

// The owner's value for a replica; the first one makes the replica. `version` grows with each Refresh that is sent for
// the key.
struct Refresh {
    NodeId owner;
    uint32_t number;
    uint64_t version;
    uint64_t applied; // the sequence of this replica's last delta that is part of the value
    Bytes value;
};

// The owner has forgotten the replica, or made none.
struct Ended {
    uint32_t number;
};

// From the owner, whose key is to be erased: end the replica.
struct Recall {
    uint32_t number;
};

// To the home: the key is to live at `to`.
struct Localize {
    NodeId to;
};

// From the home to the node that owns the key, or will own it when it arrives there: hand the key to `to`. If that is
// the owner itself, the key is to stay, though the owner has asked to move it.
struct Relocate {
    NodeId to;
};

// A replica, as the owner knows it.
struct Replica {
    NodeId node;
    uint32_t number;
    uint64_t applied;
    bool due = false; // its node waits for a Refresh
    bool lacks = false; // the value has changed since its last one
};

// A delta that is part of the value already, though its message is still on its way.
struct Ghost {
    NodeId node;
    uint32_t number;
    uint64_t sequence;
};

// To the home, at the beginning of an epoch: this node has the key, or a backup of it; or it was lost with this node.
struct Holds {
    NodeId node;
    bool lost = false;
    uint64_t backup = 0; // the version of the backup
};

// From the home: the key was lost with this node. Or no_room: the key was never used, and the home has no room for it.
// Or not_admitted: it stays where it is, at the home.
struct Gone {
    NodeId with;
};

// A key's whole, from its owner to a node that keeps a backup of it. `version` grows with each one of the key, whoever
// owns it.
struct Backup {
    NodeId owner;
    uint64_t version;
    std::vector<Origin> written; // the writes that came since the last one
    Bytes whole;
    bool erases = false; // there is no value any more: the key is to be erased
};

// The answer: the node has the backup.
struct Backed {
    NodeId keeper;
    uint64_t version;
};

// The same for keys that one operation of a worker writes.
struct BackupRun {
    NodeId owner;
    uint64_t version; // of each of them
    Origin origin; // its position is not used
    std::vector<Key> keys;
    std::vector<uint32_t> positions; // of the keys in the operation
    Bytes wholes; // one after another
};

// The answer: the node has all of them.
struct BackedRun {
    NodeId keeper;
    uint64_t version;
};

// From the home, at the beginning of an epoch: the key's owner was lost, and this node's backup is the key now.
struct TakeOver {
    std::vector<NodeId> keepers; // of other backups
};

// What a node tells others, with backups. It belongs to the epoch.
struct News {
    enum class What : uint16_t {
        settled, // to all: of the keys whose home is here, it is known which backups are the keys now
        secure, // to all: each key here has its backups
        leaving, // to all: this node hands over its keys, and is to get no more
        avoids, // to all: keys here get no backups at the node `about` any more, which leaves
        handed_over, // to all: this node, which leaves, has no key any more
        released, // the answer: all keys here have their backups at nodes that stay
        emptied, // to all: nothing is lost with this node, which does nothing for any key any more; also `released`
                 // then
        full, // to a node that leaves: this one has no room for the keys that it was offered
    };
    What what;
    NodeId about = no_node; // only of `avoids`
};

// From a node that leaves: the receiver is to have these keys.
struct Offer {
    std::vector<Key> keys;
};

// The key itself. At any time a key exists once: as the owner's value, or in this message.
struct Transfer {
    uint64_t version;
    std::vector<Replica> replicas;
    std::vector<Ghost> ghosts;
    Bytes value;
    // With backups: the version of the last one, their nodes, and writes that workers may ask for again.
    uint64_t backup = 0;
    std::vector<NodeId> keepers = {};
    std::vector<Origin> written = {};
};

// When many keys are to move, they are sent in groups of this size, so that the next node can begin while this one goes
// on.
constexpr size_t keys_at_once = 400;
constexpr uint64_t most_bytes_at_once = 1 << 20; // of values in one message; a longer value has a message of its own

// Transfers of many keys without replicas and ghosts.
struct Moves {
    std::vector<Key> keys;
    Bytes values; // one after another
};

} // namespace ps
