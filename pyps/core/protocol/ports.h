// What the protocol needs from its surroundings: the values of this node, and a way to send messages. It has no other
// I/O, no clock and no threads, so that tests can run it under every order of messages.
#pragma once

#include <functional>

#include "home_rule.h"
#include "messages.h"

namespace ps {

// What this node has of a key. owned: its value. shared: its value, and other nodes have replicas. replica: a copy of
// another node's value. closed: a replica that workers no longer use. awaited: nothing yet, but workers wait for it.
// absent: nothing.
enum class Standing : uint8_t { absent, owned, shared, replica, closed, awaited };

// The node's values. Workers pull, push and set owned and shared keys without asking the protocol, and also replicas
// where fits_replica() allows it. For workers, everything that is done under a key's latch is one step.
//
// The store alone knows what a push does, and which state beside the value a key needs for that. The value and that
// state are the `whole` of a key, and move together.
class Values {
public:
    virtual ~Values() = default;

    // Called once, before anything else. Keys live here at first as these say now; they outlive the values.
    virtual void begin_with(const FirstHomes &first) = 0;

    virtual Standing standing(Key key) const = 0;
    // False: the key is not known here. Where it begins, it was then never used, or was erased since; it is owned
    // there.
    virtual bool has_row(Key) const = 0;
    // Calls it for each key that is owned or shared here, and perhaps for others.
    void for_each_here(const std::function<void(Key key)> &body) const {
        uint64_t from = 0;
        do {
            from = for_some_here(from, body);
        } while (from != 0);
    }
    // The same in parts: for some keys, from a place on that is 0 at first. Returns the next place, 0 after the last.
    virtual uint64_t for_some_here(uint64_t from, const std::function<void(Key key)> &body) const = 0;
    virtual uint64_t whole_bytes(Key key) const = 0;
    virtual uint64_t value_bytes(Key key) const = 0;
    virtual bool fits_replica(Key key, Operation operation) const = 0; // if not, only the owner can do it
    // Whether this node's memory_limit leaves room for what sharing the key takes.
    virtual bool has_room_to_share(Key) const = 0;
    virtual void apply(Bytes *whole, const char *delta, Key key) const = 0; // does what a push does
    virtual void assign(Bytes *whole, const char *value, Key key) const = 0; // does what a set does

    // The place of the key, or its value, will be used soon, so its memory may be fetched.
    virtual void prefetch_place(Key) const {}
    virtual void prefetch(Key) const {}

    // The keys of shared values that were changed, and of replicas that were pushed to, since the last call, and
    // perhaps others. A key is not named again if the caller does not take what has changed (take_changed, take_part).
    virtual void take_changes(std::vector<Key> *keys) = 0;

    // Called before a key's latch is taken because of another node. False: the key was never used here, and there is no
    // room for it.
    virtual bool admit(Key) { return true; }
    // False: a worker holds the key's latch and does not go on.
    virtual bool latch(Key key) = 0;
    virtual void unlatch() = 0;
    // Replica -> closed, also while a worker holds the latch.
    virtual void close(Key key) = 0;

    // The rest is for the key whose latch was taken; one latch at a time.
    virtual void pull(Key key, Bytes *value) = 0;
    virtual void push(Key key, const Bytes &delta) = 0; // also adds to a replica's delta
    virtual void set(Key key, const Bytes &value) = 0;
    virtual void read(Key key, Bytes *whole) = 0; // of an owned or shared key
    virtual void replace(Key key, const char *whole) = 0; // of such a key; take_changes does not name it for this

    virtual void await(Key key) = 0; // absent -> awaited
    virtual void forget(Key key) = 0; // awaited -> absent
    // Absent, awaited -> owned; of a replica: its delta is applied to the value.
    virtual void own(Key key, const char *whole) = 0;
    virtual Bytes first_whole(Key key) const = 0; // of a key that was never used
    virtual void give(Key key, NodeId to, Bytes *wholes) = 0; // owned, shared -> absent; appends the key's whole
    virtual void share(Key key) = 0; // owned -> shared
    virtual void unshare(Key key) = 0; // shared -> owned
    virtual bool take_changed(Key key) = 0; // whether a shared key was changed since the last call

    virtual void copy(Key key, const Bytes &value) = 0; // absent, awaited -> replica
    // Give a replica a new value: the owner's `value`, to which the delta that was sent to the owner (`sent`, may be
    // empty) and then what is kept here are applied.
    virtual void refresh(Key key, const Bytes &value, const Bytes &sent) = 0;
    virtual bool take_delta(Key key, Bytes *delta) = 0; // false if nothing was pushed that was not taken
    // The same, but where deltas are compressed, a rest may stay here, of which take_changes says nothing. False if
    // nothing was pushed since the last call.
    virtual bool take_part(Key key, Bytes *part) = 0;
    virtual bool retire(Key key, Bytes *delta) = 0; // the same, and then replica, closed -> awaited
    // Of an owned key: as if it had never been used, so it is absent unless it began here. Its row goes with the latch,
    // unless something is done to the key before.
    virtual void erase(Key key) = 0;
};

constexpr bool not_from_home = false;

class Post {
public:
    virtual ~Post() = default;

    // `from_home`: the key's home sends this to the owner.
    virtual void send(NodeId to, Key key, const Request &message, bool from_home) = 0;
    virtual void send(NodeId to, Key key, const Want &message, bool from_home) = 0;
    virtual void send(NodeId to, Key key, const Delta &message, bool from_home) = 0;
    virtual void send(NodeId to, Key key, const Refresh &message) = 0;
    virtual void send(NodeId to, Key key, const Ended &message) = 0;
    virtual void send(NodeId to, Key key, const Recall &message) = 0;
    virtual void send(NodeId to, Key key, const Localize &message) = 0;
    virtual void send(NodeId to, Key key, const Relocate &message) = 0;
    virtual void send(NodeId to, Key key, const Transfer &message) = 0;
    virtual void send(NodeId to, Moves &&message) = 0;
    virtual void send(NodeId to, Key key, const Holds &message) = 0;
    virtual void send(NodeId to, Key key, const Gone &message) = 0;
    virtual void send(NodeId to, Key key, const Backup &message) = 0;
    virtual void send(NodeId to, Key key, const Backed &message) = 0;
    virtual void send(NodeId to, const BackupRun &message) = 0;
    virtual void send(NodeId to, const BackedRun &message) = 0;
    virtual void send(NodeId to, Key key, const TakeOver &message) = 0;
    virtual void send(NodeId to, const Offer &message) = 0;
    virtual void tell(NodeId to, News news) = 0;

    // `after_refresh`: the answer must come after what was sent to the worker's node before. `value`: of a pull; of
    // what is about rows (see Operation) one byte, 0 or 1; else it is empty.
    virtual void answer(const Origin &origin, Key key, const Bytes &value, bool after_refresh) = 0;
    // Many keys that one operation has written; the position in `origin` is not used.
    virtual void answer(const Origin &origin, const std::vector<uint32_t> &positions) = 0;
    // False: the node is slow and has not taken in the last refreshes. Further ones should wait until it has; they will
    // then have newer values.
    virtual bool takes_refreshes(NodeId to) const = 0;
    // A key that a worker of this node asked to localize has come here.
    virtual void landed(uint64_t waiter, Key key) = 0;

    // The same two for a key that was lost with a node, or for which there is no room.
    virtual void refuse(const Origin &origin, Key key, NodeId lost_with) = 0;
    virtual void gone(uint64_t waiter, Key key, NodeId lost_with) = 0;
};

} // namespace ps
