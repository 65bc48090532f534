// One node's part in deciding where keys live: requests find the key's owner, keys move on request, replicas are made
// for nodes that intend to use a key and exchange what was added to them.
//
// What always holds:
// - A key's value is at one place, its owner, or in one Transfer on its way. What arrives for an owner that still waits
//   for the Transfer waits with it.
// - All relocations of a key pass its home, and the home sends Relocate and what it forwards to the owner on one path.
//   So a forwarded request meets the owner before the Relocate that takes the key away: it is forwarded once.
// - A replica has at most one delta on its way, and keeps it until the owner's value has it: what its node's workers
//   read has all that they pushed.
// - A node's request to end a replica is answered before it asks for another one.
// - What is done to a key is done step by step, each under its latch. A worker that has the latch and does not move
//   holds up the steps of this key alone.
// One thread at a time may be inside. Keys of other channels have protocols of their own (channels.h).
#pragma once

#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

#include "arrivals.h"
#include "channels.h"
#include "homes.h"
#include "marks.h"
#include "messages.h"
#include "parked.h"
#include "ports.h"

namespace ps {

enum class Techniques : uint8_t { all, replication_only, relocation_only };

class Protocol {
public:
    Protocol(NodeId self, NodeId nodes, const KeySpace &space, Techniques techniques, Values &values, Post &post,
             const ChannelKeys &channel = {})
        : self_(self), techniques_(techniques), channel_(channel), homes_(self, nodes, space, channel), values_(values),
          post_(post) {}

    // From other nodes, and requests of this node's workers.
    void receive(Key key, Request message, bool from_home);
    void receive(Key key, Delta message, bool from_home);
    void receive(Key key, Refresh message);
    void receive(Key key, const Ended &message);
    void receive(Key key, Transfer message);

    // Of many keys at once (runs.cpp), in the order of the keys.
    void receive_run(const std::vector<Key> &keys, const Localize &message);
    void receive_run(const std::vector<Key> &keys, const Relocate &message);
    void receive_wants(const std::vector<Key> &keys, NodeId node, const std::vector<uint32_t> &numbers, bool from_home);
    void receive_moves(const std::vector<Key> &keys, const char *values);

    // From this node's workers: what they cannot do by themselves.
    void localize(const std::vector<Key> &keys, uint64_t waiter);
    void want(const std::vector<Key> &keys); // the first intent of this node begins
    void stop_wanting(const std::vector<Key> &keys); // the last one ends

    // A new epoch of the membership (epochs.cpp), in this order: begin_epoch; receive_late what members sent before
    // they knew of it; report, when that is all; Holds of the others; settle, when all have reported. Nothing else
    // meanwhile. What is on its way of operations is forgotten: who waits for it is told by others.
    void begin_epoch(const std::vector<NodeId> &members);
    void receive_late(Key key, Transfer message);
    void report();
    void receive(Key key, const Holds &message);
    void settle(NodeId lost); // a node that was lost, for keys of which nothing else is known
    void receive(Key key, const Gone &message);

    const HomeRule &home_rule() const { return homes_.rule(); }

    // One round: send what was added to replicas here, and to replicas elsewhere what changed here.
    void exchange();
    bool is_idle() const { return due_.empty(); } // until a key is changed or a message comes a round does nothing

    void hear_from(NodeId sender) { parked_.hear_from(sender); } // before what it says is received

    // Try again what has to wait for a worker's latch. What was not to come is said to `refuse`.
    void retry(const std::function<void(const Unexpected &)> &refuse);
    const Parked &parked() const { return parked_; }

    Mark mark(); // of this moment; the next rounds bring it about
    bool reached(Mark *mark);

    // Wants since the last call, for which owners had no room.
    size_t take_roomless() { return std::exchange(roomless_, 0); }
    size_t asked() const { return asked_.size(); } // keys that were wanted and are on their way, or replicas of them
    bool is_quiet() const; // no key is awaited, no delta or want is on its way, nobody waits for a Refresh
    bool remembers_nothing() const {
        return arrivals_.empty() && replicas_.empty() && masters_.empty() && asked_.empty() && parked_.empty();
    }

private:
    // A replica here.
    struct Held {
        NodeId owner;
        uint32_t number;
        uint64_t version;
        uint64_t sent = 0; // deltas
        bool due = false; // send one, even if nothing was added
        bool on_its_way = false;
        bool ending = false; // ask the owner to end it as soon as no delta is on its way
        bool ended = false; // asked; what arrives meanwhile waits
        bool listed = false; // in due_, or to be as soon as no delta is on its way
        Bytes delta; // the one on its way
        std::vector<Request> queue;
    };

    // A key owned here that has, or lately had, replicas.
    struct Master {
        uint64_t version = 0;
        NodeId promised = no_node; // the home was asked to move the key there
        bool listed = false; // in due_
        std::vector<Replica> replicas;
        std::vector<Ghost> ghosts;
    };

    struct Found {
        bool here = false, later = false, lost = false;
        NodeId node = no_node;
        bool from_home = false; // to be said when it is sent to `node`
    };

    // Steps.
    template <class Body>
    void step(Key key, Body &&body);
    template <class Body>
    bool do_now(Key key, Body &&body);
    void bring(Key key, Transfer message, uint64_t epoch);

    // All from here on that may change a key is a part of a step of that key.
    void take(Key key, Request message, bool from_home);
    void take(Key key, const Want &message, bool from_home);
    void take(Key key, Delta message, bool from_home);
    void take(Key key, const Refresh &message);
    void take(Key key, const Ended &message);
    void take(Key key, const Localize &message);
    void take(Key key, const Relocate &message);
    void take(Key key, Transfer message);
    void take_late(Key key, Transfer message);
    void take(Key key, const Gone &message);
    void localize_key(Key key, uint64_t waiter);
    void want_key(Key key);
    void stop_wanting_key(Key key);

    bool owns(Key key) const;
    bool is_coming(Key key) const; // a key that was asked for
    void mark_replica(Key key, Held &held, Mark *mark);
    Found find(Key key, bool from_home) const;
    Arrival &expect(Key key);

    void serve(Key key, const Request &request);
    void serve(Key key, const Want &want);
    void serve(Key key, const Delta &delta);
    bool refresh_origin(Key key, NodeId node);
    bool serve_by_replica(Key key, Request &request);

    template <class Body>
    void for_each(const std::vector<Key> &keys, Body &&body);
    bool is_plain(Key key) const;
    void give(Key key, NodeId to, Moves *moves);
    void finish(NodeId to, Moves *moves);

    void move(Key key, NodeId to);
    void take_in(Key key, Transfer message);
    void send_gone(NodeId to, Key key);
    void forget_awaited(Key key);
    void send_again(Key key);
    void forget_outsiders(std::vector<Replica> *replicas) const;
    void transfer(Key key, const Relocate &relocate);
    void land(Key key);
    void take_over(Key key, Master &master, Bytes &value, Arrival &arrival);

    void ask(Key key);
    void relocate_to(Key key, Master &master, NodeId node);
    void send_refresh(Key key, Master &master, Replica &replica, const Bytes &value);
    void send_delta(Key key, Held &held);
    void end(Key key, Held &held);
    void forget_if_plain(Key key);
    void exchange(Key key);
    void exchange(Key key, Held &held);
    void exchange(Key key, Master &master);
    void list(Key key, Held &held);
    void list(Key key, Master &master);
    void list_master(Key key); // if it is one

    const NodeId self_;
    const Techniques techniques_;
    const ChannelKeys channel_;
    Homes homes_;
    std::optional<Homes> former_; // of the epoch before, until the new one is settled
    Values &values_;
    Post &post_;
    uint32_t last_number_ = 0;
    uint64_t epoch_ = 0; // times that one began
    Arrivals arrivals_;
    std::unordered_map<Key, Held> replicas_;
    std::unordered_map<Key, Master> masters_;
    std::vector<Key> due_; // the next round looks at them, and at what workers have changed
    FlatMap<uint32_t> asked_; // wants on their way, with their numbers
    FlatMap<bool> wanted_; // by workers of this node
    size_t roomless_ = 0;
    Parked parked_;
};

} // namespace ps
