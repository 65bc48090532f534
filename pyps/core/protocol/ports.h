// What the protocol needs of its surroundings: the values of this node, and a way to tell others. It has no other
// input or output, no clock and no threads, so that tests can run it under every order of messages.
#pragma once

#include <functional>

#include "messages.h"

namespace ps {

// What this node has of a key. `shared`: others have replicas. `replica`: of another node's value. `awaited`: nothing
// yet, workers wait.
enum class Standing : uint8_t { absent, owned, shared, replica, awaited };

// The node's values. Workers pull, push and set what is owned or shared without asking, and do to a replica what fits
// one. What is done under a key's latch is one step to them. What a push does, and what beside its value a key has for
// that and takes along, is the store's affair: the whole of a key is its value and that.
class Values {
public:
    virtual ~Values() = default;

    virtual Standing standing(Key key) const = 0;
    // The keys that are owned here or shared; others may be among them.
    virtual void for_each_here(const std::function<void(Key key)> &body) const = 0;
    virtual uint64_t whole_bytes(Key key) const = 0;
    virtual bool fits_replica(Key key, Operation operation) const = 0; // else it is for the owner alone
    virtual bool has_room_to_share(Key) const = 0; // within what this node may take
    virtual void apply(Bytes *whole, const Bytes &delta, Key key) const = 0; // what a push does

    // The key, its place first, will be asked for soon.
    virtual void prefetch_place(Key) const {}
    virtual void prefetch(Key) const {}

    // The keys that became changed, shared ones, or were added to, replicas, since the last call; others may be among
    // them. What is not taken from a key then (take_changed, take_delta) is not told again.
    virtual void take_changes(std::vector<Key> *keys) = 0;

    // Before a key's latch is taken for another node. False: it was never used here, and there is no room for it.
    virtual bool admit(Key) { return true; }
    // False: a worker has the key's latch and does not move.
    virtual bool latch(Key key) = 0;
    virtual void unlatch() = 0;

    // Of the key whose latch was taken, one at a time.
    virtual void pull(Key key, Bytes *value) = 0;
    virtual void push(Key key, const Bytes &delta) = 0; // a replica's delta grows too
    virtual void set(Key key, const Bytes &value) = 0;

    virtual void await(Key key) = 0; // absent -> awaited
    virtual void forget(Key key) = 0; // awaited -> absent
    virtual void own(Key key, const char *whole) = 0; // absent, awaited -> owned; replica: its delta is applied
    virtual void give(Key key, NodeId to, Bytes *wholes) = 0; // owned, shared -> absent; appended
    virtual void share(Key key) = 0; // owned -> shared
    virtual void unshare(Key key) = 0; // shared -> owned
    virtual bool take_changed(Key key) = 0; // of a shared key: since the last call

    virtual void copy(Key key, const Bytes &value) = 0; // absent, awaited -> replica
    // A replica's value becomes this, with a delta that was sent to the owner (none: empty) and the one kept here.
    virtual void refresh(Key key, const Bytes &value, const Bytes &sent) = 0;
    virtual bool take_delta(Key key, Bytes *delta) = 0; // false: nothing was pushed
    virtual bool retire(Key key, Bytes *delta) = 0; // the same, and replica -> awaited
};

class Post {
public:
    virtual ~Post() = default;

    // `from_home`: the home sends this to the owner that it knows.
    virtual void send(NodeId to, Key key, const Request &message, bool from_home) = 0;
    virtual void send(NodeId to, Key key, const Want &message, bool from_home) = 0;
    virtual void send(NodeId to, Key key, const Delta &message, bool from_home) = 0;
    virtual void send(NodeId to, Key key, const Refresh &message) = 0;
    virtual void send(NodeId to, Key key, const Ended &message) = 0;
    virtual void send(NodeId to, Key key, const Localize &message) = 0;
    virtual void send(NodeId to, Key key, const Relocate &message) = 0;
    virtual void send(NodeId to, Key key, const Transfer &message) = 0;
    virtual void send(NodeId to, Moves &&message) = 0;
    virtual void send(NodeId to, Key key, const Holds &message) = 0;
    virtual void send(NodeId to, Key key, const Gone &message) = 0;

    // `after_refresh`: the worker's node must get what was sent to it before, then the worker this. The value is empty
    // unless it was a pull.
    virtual void answer(const Origin &origin, Key key, const Bytes &value, bool after_refresh) = 0;
    // False: the node is slow, it has not yet taken the last refreshes. They can wait, for all that changes meanwhile.
    virtual bool takes_refreshes(NodeId to) const = 0;
    virtual void landed(uint64_t waiter, Key key) = 0; // of this node: a key that was to be localized was here

    // The same of a key that was lost with a node, or is without room.
    virtual void refuse(const Origin &origin, Key key, NodeId lost_with) = 0;
    virtual void gone(uint64_t waiter, Key key, NodeId lost_with) = 0;
};

} // namespace ps
