// One node's part in deciding where keys live. Requests find the key's owner, keys move when a node asks for them, and
// nodes that intend to use a key get replicas, whose pushes are exchanged with the owner.
//
// What always holds:
// - A key's value is at one place: its owner, or one Transfer on its way. Messages for an owner that still waits for
//   the Transfer wait as well.
// - All relocations of a key go through its home, and the home sends both Relocate and what it forwards to the owner on
//   one path. So a forwarded request reaches the owner before the Relocate that takes the key away, and is forwarded
//   only once.
// - A replica has at most one delta on its way, and keeps that delta until the owner's value has it. So what this
//   node's workers read has everything that they pushed.
// - A key is erased, or let go, at its home, when no other node has a replica of it. What is still on its way of deltas
//   is part of the value that goes, so nothing of what was acknowledged before can come back.
// - A node that asked for the end of a replica gets an answer before it asks for another replica of the key.
// - With backups, a write is seen and acknowledged when all nodes that keep a backup of the key have it (backups.cpp).
// - What happens to a key happens in steps, each under the key's latch. A worker that holds the latch and does not go
//   on delays the steps of this key only.
//
// One thread at a time may be inside. Each channel has a protocol of its own (channels.h).
#pragma once

#include <deque>
#include <functional>
#include <optional>
#include <unordered_map>
#include <utility>

#include "arrivals.h"
#include "channels.h"
#include "copies.h"
#include "homes.h"
#include "keepers.h"
#include "leavers.h"
#include "marks.h"
#include "messages.h"
#include "parked.h"
#include "ports.h"
#include "recent.h"
#include "writes.h"

namespace ps {

enum class Techniques : uint8_t { all, replication_only, relocation_only };

// On more nodes a key goes to one that wants it only after that has used it alone for some time (replication.cpp).
constexpr size_t few_nodes = 4;

class Protocol {
public:
    // `first`: the homes at the start of the cluster. This node may join it later.
    Protocol(NodeId self, const HomeRule &first, Techniques techniques, Values &values, Post &post,
             const ChannelKeys &channel = {}, NodeId backups = 0)
        : self_(self), techniques_(techniques), channel_(channel), backups_(backups), first_(self, first),
          homes_(self, first_, channel), values_(values), post_(post), keepers_(self, backups, first.members()),
          settled_(first.places(), true), secure_(first.places(), true), since_settled_(first.places()),
          is_whole_(backups > 0), leavers_(first.places()), released_(first.places()) {
        values_.begin_with(first_);
    }
    Protocol(const Protocol &) = delete;
    Protocol &operator=(const Protocol &) = delete;

    // Messages from other nodes, and requests of this node's workers.
    void receive(Key key, Request message, bool from_home);
    void receive(Key key, Delta message, bool from_home);
    void receive(Key key, Refresh message);
    void receive(Key key, const Ended &message);
    void receive(Key key, const Recall &message);
    void receive(Key key, Transfer message);
    void receive(Key key, Backup message);
    void receive(Key key, const Backed &message);
    void receive(const BackupRun &message);
    void receive(const BackedRun &message);
    void receive(Key key, const TakeOver &message);
    void receive(const Offer &message);
    void hear(NodeId from, News news);

    // Messages about many keys (runs.cpp); the keys are handled in their order.
    void receive_run(const std::vector<Key> &keys, const Localize &message);
    void receive_run(const std::vector<Key> &keys, const Relocate &message);
    void receive_wants(const std::vector<Key> &keys, NodeId node, const std::vector<uint32_t> &numbers, bool from_home);
    void receive_moves(const std::vector<Key> &keys, const char *values);
    // An operation that writes, with its values one after another; no `positions`: 0, 1, 2, ... (write_runs.cpp)
    void receive_writes(const std::vector<Key> &keys, const std::vector<uint32_t> &positions, Operation operation,
                        Origin origin, const char *values, bool from_home);

    // What this node's workers cannot do by themselves.
    void localize(const std::vector<Key> &keys, uint64_t waiter);
    // The first intent of this node for these keys begins; a long one may bring keys here that others use as well.
    void want(const std::vector<Key> &keys, bool for_long = false);
    void stop_wanting(const std::vector<Key> &keys); // the last one ends

    // With backups: this node is to leave (leaving.cpp). Call it again to go on after other nodes had no room.
    void leave();
    bool is_empty() const { return is_empty_; } // it does nothing for keys any more, and takes part in no new epoch
    void go_at_once() { is_past_ = true; } // an epoch begins, and this node is empty
    bool may_go() const { return is_empty_ && (is_past_ || is_released()); }
    bool knows_empty(NodeId node) const { return leavers_.has_emptied(node); }
    bool is_refused() const { return is_refused_; } // others have no room for its keys
    bool is_last() const { return leaves_ && staying().empty(); } // all others leave as well

    // A new epoch of the membership (epochs.cpp). Call these in this order, and nothing else meanwhile: begin_epoch;
    // receive_late for what members sent before they knew of the epoch; report when all of that has come;
    // receive(Holds) for the reports of others; settle when all have reported. Operations on their way are forgotten;
    // their workers end them by themselves.
    void begin_epoch(const std::vector<NodeId> &members);
    void receive_late(Key key, Transfer message);
    void report();
    void receive(Key key, const Holds &message);
    void settle(NodeId lost); // `lost`: the node to name for keys of which no node knows where they were
    void receive(Key key, const Gone &message);

    // Makes a key that lives here, where it began, what it was before its first use. False: another node has a replica,
    // a worker of this node has an intent for it, something about it is on its way, its latch is busy, or an epoch is
    // not settled.
    bool let_go(Key key);

    // From now on the key of a pull or push must have been used often enough to get a row, which the caller sees to. No
    // key gets one because a node localizes it or intends to use it.
    void require_admission() { requires_admission_ = true; }
    // Whether the home of the key is here, and the key has no row yet: then do not localize or want it.
    bool awaits_admission(Key key) const { return requires_admission_ && homes_.is_here(key) && is_unused(key); }

    const HomeRule &home_rule() const { return homes_.rule(); }

    // Whether keys go back to their homes if nobody here wants them (homecoming.cpp): for nodes that skip intents, also
    // if only to try it.
    void let_keys_go_home(bool go);
    void note_use(const std::vector<Key> &keys); // by another node, whose requests were answered without `receive`

    // One round: sends what was pushed to replicas here, and to replicas elsewhere the values that changed here.
    void exchange();
    // A round does nothing until a key is changed or a message comes.
    bool is_idle() const {
        return due_.empty() && next_lacking_.empty() && !leavers_.any() && !looks_for_keys_ &&
               (to_hand_over_.empty() || offered_.size() >= keys_at_once);
    }

    void hear_from(NodeId sender) { parked_.hear_from(sender); } // call it before messages of this node are received

    // Try again the steps that wait for a worker's latch. Messages that turn out to be wrong are passed to `refuse`.
    void retry(const std::function<void(const Unexpected &)> &refuse);
    const Parked &parked() const { return parked_; }

    Mark mark(); // what must happen until all of this moment is exchanged; the next rounds do it
    Mark mark_changes(); // the same for what was pushed to replicas here, so far
    bool reached(Mark *mark);

    // How many Wants were refused since the last call because there was no room.
    size_t take_roomless() { return std::exchange(roomless_, 0); }
    size_t asked() const { return asked_.size(); } // how many wanted keys are on their way, or replicas of them
    bool is_quiet() const; // no key is awaited, no delta and no Want is on its way, and no replica waits for a Refresh
    // Whether there is more to know about the key than where it lives.
    bool knows(Key key) const {
        return is_coming(key) || replicas_.count(key) || masters_.count(key) || wanted_.count(key) ||
               writes_.count(key) || in_run_.count(key);
    }
    // Of a key whose home is here, but was not from the start: certainly it was never used, or was erased.
    bool is_unborn(Key key) const {
        return is_whole_ && !former_ && homes_.is_here(key) && !begins_here(key) && !homes_.has_entry(key);
    }
    const Copies &copies() const { return copies_; } // of keys of other nodes
    size_t to_take_over() const { return taking_over_.size(); } // how many keys of lost nodes are to come here
    size_t lacking() const { return lacking_.size(); } // how many keys here are to get copies at nodes that have none
    const Keepers &keepers() const { return keepers_; }
    bool knows_secure(NodeId node) const { return secure_[node]; }
    bool knows_all_secure() const; // of the members: so another node may join
    bool remembers_nothing() const {
        return arrivals_.empty() && replicas_.empty() && masters_.empty() && erasures_.empty() && asked_.empty() &&
               parked_.empty() && writes_.empty() && runs_.empty() && lacking_.empty() && taking_over_.empty();
    }

private:
    // A replica here.
    struct Held {
        NodeId owner = no_node;
        uint32_t number = 0; // of the Want that made it
        uint64_t version = 0;
        uint64_t sent = 0; // how many deltas
        bool due = false; // send a delta in the next round, even if nothing was pushed
        bool whole = false; // and leave nothing here
        bool on_its_way = false;
        bool ending = false; // ask the owner to end it as soon as no delta is on its way
        bool ended = false; // the owner was asked to end it; requests wait until it has answered
        bool recalled = false; // the owner, which is the home, wants it to end
        bool listed = false; // it is in due_, or will be as soon as no delta is on its way
        Bytes delta; // the delta that is on its way
        std::vector<Request> queue;
    };

    // A key owned here that has replicas, or had some lately.
    struct Master {
        uint64_t version = 0;
        NodeId promised = no_node; // the node to which the home was asked to move the key
        bool listed = false; // it is in due_
        std::vector<Replica> replicas;
        std::vector<Ghost> ghosts;
    };

    // A key that is to be erased, at its home, where it lives. It waits until the last replica has ended.
    struct Erasure {
        std::vector<Request> requests;
        std::vector<Want> wants; // that came meanwhile
        std::vector<Request> later; // writes that did, with backups
        std::vector<Relocate> next; // orders to hand the key on afterwards
    };

    struct Found {
        bool here = false, later = false, lost = false;
        NodeId node = no_node;
        bool from_home = false; // the message to `node` must say that it comes from the home
    };

    // Steps.
    template <class Body>
    void step(Key key, Body &&body);
    template <class Body>
    bool do_now(Key key, Body &&body);
    void bring(Key key, Transfer message, uint64_t epoch);

    // Everything from here on that may change a key is a part of a step of that key.
    void take(Key key, Request message, bool from_home);
    void take(Key key, const Want &message, bool from_home);
    void take(Key key, Delta message, bool from_home);
    void take(Key key, const Refresh &message);
    void take(Key key, const Ended &message);
    void take(Key key, const Recall &message);
    void take(Key key, const Localize &message);
    void take(Key key, const Relocate &message);
    void take(Key key, Transfer message);
    void take_late(Key key, Transfer message);
    void take(Key key, const Gone &message);
    void localize_key(Key key, uint64_t waiter);
    void want_key(Key key);
    void bring_here(Key key);
    void stop_wanting_key(Key key);

    bool owns(Key key) const;
    bool is_coming(Key key) const; // whether a key or replica that was asked for is on its way
    void mark_replica(Key key, Held &held, bool whole, Mark *mark);
    Found find(Key key, bool from_home);
    Arrival &expect(Key key);
    static void await(Arrival &arrival, Request request, bool from_home);

    void serve(Key key, const Request &request);
    void serve(Key key, const Want &want);
    void serve(Key key, const Delta &delta);
    bool take_ghost(Key key, const Delta &delta);
    bool refresh_origin(Key key, NodeId node);
    bool serve_by_replica(Key key, Request &request);

    template <class Body>
    void for_each(const std::vector<Key> &keys, Body &&body);
    bool is_plain(Key key) const;
    void give(Key key, NodeId to, Moves *moves);
    void send_moves(NodeId to, Moves *moves);

    void move(Key key, NodeId to);
    void take_in(Key key, Transfer message);
    void send_gone(NodeId to, Key key);
    void forget_awaited(Key key);
    void leave_at_home(Key key);
    template <class Answer>
    void leave_here(Key key, NodeId asker, const Answer &answer);
    void send_again(Key key);
    void forget_outsiders(std::vector<Replica> *replicas) const;
    void note_stays(Key key);
    void transfer(Key key, const Relocate &relocate);
    void land(Key key);
    void hand_on(Key key, std::vector<Relocate> orders);
    void take_over(Key key, Master &master, Bytes &value, Arrival &arrival);

    void ask(Key key);
    bool answer_asked(Key key, uint32_t number);
    void look_for_keys_away();
    void go_home(Key key);
    void relocate_to(Key key, Master &master, NodeId node);
    void send_refresh(Key key, Master &master, Replica &replica, const Bytes &value);
    void refresh_replicas(Key key, Master &master);
    static bool waits_for_refresh(const Master &master);
    bool moves_at_once() const;
    bool has_few_nodes() const;
    bool has_turn(NodeId node) const;
    NodeId with_turn() const;
    void send_delta(Key key, Held &held);
    void end(Key key, Held &held);
    void forget_if_plain(Key key);
    void forget_erased(Key key);
    bool begins_here(Key key) const { return first_.is_here(key); }
    bool is_unused(Key key) const { return begins_here(key) ? !values_.has_row(key) : is_unborn(key); }
    void bear(Key key);
    void make(Key key);
    void receive_about_row(Key key, Request request);
    void take_erasure(Key key, Request request);
    void begin_erasure(Key key, Erasure erasure);
    void recall(Key key, Master &master, Replica &replica, const Bytes &value);
    void erase_if_alone(Key key);
    void erase_backups(Key key, const std::vector<Request> &requests);
    void end_erasure(Key key, const std::vector<Write::Request> &requests);
    void erase_here(Key key, Erasure erasure, bool had_row);
    void send_end(Key key, uint32_t number);
    bool is_being_erased(Key key) const { return !erasures_.empty() && erasures_.count(key); }
    void write(Key key, const Request &request);
    bool is_known(Key key, const Request &request);
    Write &begin_write(Key key);
    Write *find_write(Key key);
    bool may_run(Key key) const;
    Run &begin_run(const std::vector<NodeId> &keepers, const Origin &origin);
    void send(const Run &run);
    void commit(const Run &run);
    void leave_run(Key key);
    void leave_runs();
    void send_backup(Key key, Write &write);
    void send_to_keepers(Key key, Write &write);
    void drop_backups(Key key, Write &write);
    void take(Key key, const Backed &message);
    void commit(Key key);
    void finish(Key key);
    bool waits_for_backup(Key key);
    void back_up(Key key);
    void back_up_lacking();
    void lack(Key key);
    void pass_backups_on(Key key, NodeId to, Transfer *message);
    void take_backups_in(Key key, const Transfer &message);
    void take(Key key, const TakeOver &message);
    void send_taken_over();
    void go_on_from_backup(Key key);
    void forget_replicas();
    void forget_replica(Key key);
    void begin_epoch_of_backups(const std::vector<NodeId> &members);
    void note_lost();
    void claim(const std::function<void(Key, const Holds &)> &report) const;
    void find_unlisted(std::vector<Key> *keys) const;
    bool find_again(Key key);
    void settle_backups();
    void tell(News news);
    void note_lacking();
    void forget_erasures();
    void send_writes_again();
    std::vector<NodeId> staying() const;
    void choose_keepers();
    void avoid(NodeId leaver);
    void release_leavers();
    void let_stay(const std::vector<Key> &keys);
    bool has_orders_to(NodeId node) const;
    void drop_leavers();
    void hand_over();
    bool is_released() const;
    void offer();
    void forget_taken();
    void offer_again();
    void begin_epoch_of_leavers(const std::vector<NodeId> &members);
    void join(const std::vector<NodeId> &members);
    void note_moved_homes();
    void spread();
    void lose(Key key, NodeId with);

    void take_changes();
    void note_travelling(Key key);
    void drop_arrived();
    void exchange(Key key);
    void exchange(Key key, Held &held);
    void exchange(Key key, Master &master);
    void list(Key key, Held &held);
    void list(Key key, Master &master);
    void list_master(Key key); // if it has replicas

    const NodeId self_;
    const Techniques techniques_;
    const ChannelKeys channel_;
    const NodeId backups_; // of each key
    bool requires_admission_ = false;
    FirstHomes first_;
    Homes homes_;
    std::optional<Homes> former_; // of the last settled epoch, until the new one is settled
    Values &values_;
    Post &post_;
    uint32_t last_number_ = 0;
    uint64_t epoch_ = 0; // how often an epoch began
    Arrivals arrivals_;
    std::unordered_map<Key, Held> replicas_;
    std::unordered_map<Key, Master> masters_;
    std::unordered_map<Key, Erasure> erasures_;
    std::vector<Key> due_; // keys that the next round looks at, besides those that workers have changed
    std::vector<Key> travelling_; // at least the replicas that wait for an answer of their owners
    FlatMap<uint32_t> asked_; // numbers of the Wants that are on their way
    Keepers keepers_;
    std::unordered_map<Key, Write> writes_;
    std::unordered_map<uint64_t, Run> runs_; // by version
    FlatMap<InRun> in_run_;
    Copies copies_; // of keys of other nodes
    std::unordered_map<Key, TakingOver> taking_over_;
    std::deque<Key> to_take_over_; // those of which nothing was sent yet
    size_t taken_on_their_way_ = 0; // of how many backups are
    std::unordered_map<Key, std::vector<Holds>> claims_; // of backups, in a new epoch, by key whose home is here
    Recent recent_;
    FlatMap<bool> lacking_; // keys here that need backups at nodes that have none
    std::vector<Key> next_lacking_; // those for which nothing is on its way yet, and perhaps others
    NodeId turn_ = 0; // the first node that has one: see has_turn
    std::vector<bool> settled_, secure_; // by node: what it has told in this epoch
    bool knows_lost_keys_ = false; // other nodes cannot tell these from keys that were never written
    bool were_secure_ = true; // no key that was written can have been lost with the nodes that were lost
    std::vector<bool> since_settled_; // by node: a member of the last settled epoch, or of one since
    size_t most_lost_ = 0; // backups that each key had when all keys last had theirs
    size_t lost_at_once_ = 0, lost_before_ = 0; // nodes, since all keys had their backups; without this epoch's
    bool is_whole_; // they were so in all epochs
    Leavers leavers_;
    bool keys_go_home_ = false, looks_for_keys_ = false;
    uint64_t look_from_ = 0; // place
    bool leaves_ = false; // this node does
    bool is_empty_ = false, is_past_ = false; // is_past_: others may have begun an epoch that this node does not
    bool is_refused_ = false;
    bool asks_to_go_ = false; // it has said that it has handed over its keys
    std::vector<Key> to_hand_over_;
    FlatMap<bool> offered_; // that are still here
    std::vector<bool> released_; // by node, since it has said so
    uint64_t last_version_ = 1; // of all backups that this node has sent or seen
    FlatMap<bool> wanted_; // keys for which this node has an intent
    size_t roomless_ = 0;
    Parked parked_;
};

} // namespace ps
