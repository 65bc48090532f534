// A node's shared memory. Its parts, in this order: header | length classes | endpoints and state of the nodes | slots
// of workers and of the server's channels | directory | how many keys are here, per block of rows | per channel, which
// shared keys were changed | how and when rows were used, if keys are let go | undo areas, one per slot | values: for
// each length class a region for keys that only this node has, and one for shared keys | what is known about sampling.
//
// The directory, the counts and the changes go by rows (see rows.h). For other nodes' keys of a range, these three are
// the only memory that is used without being committed before: a page comes into being with the first use of one of its
// keys. Where keys may be any numbers, the tables of their rows lie before the directory, and memory is committed as
// keys come.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "mixing.h"
#include "protocol/channels.h"
#include "protocol/home_rule.h"
#include "ps.h"
#include "segment/ages.h"
#include "segment/changes.h"
#include "segment/directory.h"
#include "segment/doorbell.h"
#include "segment/futex.h"
#include "segment/latencies.h"
#include "segment/mapping.h"
#include "segment/members.h"
#include "segment/process.h"
#include "segment/row_maker.h"
#include "segment/rows.h"
#include "segment/uses.h"
#include "store/initializer.h"
#include "store/push_rule.h"

namespace ps {

// lost: a node was lost, perhaps this one; see loss.h.
enum class State : uint32_t { open = 1, closed = 2, failed = 3, lost = 4 };

// A barrier as the processes that wait at it see it: how many rounds are over, modulo 2^32. A futex.
using Rounds = std::atomic<uint32_t>;
// The word of a worker or node that comes to barriers: 0, or `arrived` with the number of the round in the low bits.
// With `withdrawing` it wants to take its arrival back; where there is a server, that sets the word to 0.
using ArrivalWord = std::atomic<uint64_t>;
constexpr uint64_t arrived = uint64_t(1) << 32, withdrawing = uint64_t(1) << 33;

// What wakes a sleeping channel of the server: a message; with until_changes also a change of a shared key; with
// until_clocks also an advance of a clock.
enum class Sleep : uint32_t { none = 0, until_messages = 1, until_changes = 2, until_clocks = 3 };

// What workers see of a channel. A channel with a thread of its own sleeps on `sleeps`, the first channel on the
// doorbell.
struct alignas(64) ChannelWords {
    std::atomic<Sleep> sleeps; // see wake_server()
    std::atomic<uint32_t> swept; // the tick at which its last pass over all rows began: see Expiry
};

// Everything but the atomics is written before any other process sees it.
struct Header {
    uint64_t magic;
    uint32_t abi;
    int32_t dtype;
    uint64_t reserved_bytes; // of the whole range of addresses
    int64_t num_keys; // of a range; 0: keys may be any numbers
    int64_t capacity; // most keys; with a range, num_keys
    int64_t total_values; // with a range: elements of all values
    int64_t longest_value;
    int64_t value_length; // elements; 0 if lengths differ
    uint32_t element_bytes;
    uint32_t num_classes;
    uint32_t max_workers;
    uint32_t num_workers;
    uint64_t memory_limit;
    // Of one slot's undo area: the longest value with its state; with several nodes, of a shared key, with the delta.
    uint64_t undo_bytes;
    uint64_t classes_at, endpoints_at, slots_at, rows_at, directory_at, here_at, changes_at, undo_at, values_at,
        sampling_at;
    uint64_t cluster; // the number that the cluster's nodes have in common
    uint32_t places,
        node; // places for nodes, each with a number, and the number of this one; 1 and 0 for the only node
    uint32_t techniques;
    uint32_t replicas; // other nodes that keep a backup of each key
    char curve_public[41], curve_secret[41]; // may be empty; written before `connected`
    double latch_timeout;
    Process server;
    uint64_t members_at;
    double heartbeat, lost_after; // seconds
    uint32_t on_loss, admission; // admission: uses before a key gets a row; 0: its first use makes one
    uint64_t in_flight; // bytes that a worker may have on their way
    uint32_t num_channels; // channels of the server
    uint64_t channels_at;
    Initializer initializer;
    Eviction eviction;
    uint64_t uses_at; // 0 if no key is let go when there is no room
    double max_age; // seconds; 0: keys may become of any age
    uint64_t ages_at; // a page with the clock, and behind it the marks; 0 without a greatest age
    uint64_t slab_bytes_each; // of a slab for values, about

    bool is_range() const { return num_keys > 0; }
    // Whether workers need a server, for keys of other nodes or keys that have no row yet.
    bool has_server() const { return places > 1 || !is_range(); }

    alignas(64) std::atomic<State> state;
    std::atomic<uint32_t> connected; // 1: the endpoints of all nodes are written
    Rounds worker_rounds; // of the workers' barrier
    Rounds node_rounds, leave_rounds; // of the nodes' barriers: Server.barrier(), and the one at their common end
    ArrivalWord node_arrival, leave_arrival; // this node's words at these two
    std::atomic<uint32_t> sampling; // see sampling/enabling.cpp
    std::atomic<uint32_t> ticks; // see Uses; written by the server process
    std::atomic<uint32_t> slots_used; // slots 1 to slots_used were claimed at least once
    // How often the version of a latch has started again at 0: see latch.h.
    alignas(64) std::atomic<uint64_t> version_turns;
    alignas(64) std::atomic<uint64_t> joined, reclaimed, recovered, restored;
    std::atomic<uint64_t> joined_aside; // how many of `joined` are aside; raised before it
    std::atomic<uint64_t> refused; // refused messages
    std::atomic<uint64_t> peers_refused; // refused connections: they did not have the cluster's keys
    std::atomic<uint32_t> refusal_kept;
    char first_refusal[160]; // written before `refusal_kept` is set, by the process that refused the first message
    char library[4096]; // the file that other processes open to reach nodes; written before `connected`
    std::atomic<uint32_t> ending, ended; // `ending` is 1: a process writes the next two. `ended` is 1: they are written
    uint32_t lost_node; // written before `state` becomes `failed` or `lost`
    char failure[200]; // what has happened, in words
    // Number + 1 of a node that has shut down, if nothing that needs other nodes works after that.
    std::atomic<uint32_t> parted;
    std::atomic<uint32_t> epoch; // of the membership; written after the nodes' states and `lost_last`
    std::atomic<uint32_t> lost_last; // one of the nodes without which the epoch began
    std::atomic<uint32_t> leaves; // how often this node was told to hand over its keys; 0: it stays
    std::atomic<uint32_t> refused_at; // what `leaves` was when another node had no room for the keys
    std::atomic<uint32_t> nobody_stays; // 1: all other nodes leave as well
    std::atomic<uint64_t> channels_secure; // how many know that all keys of all members have their backups
    std::atomic<uint64_t> channels_gone; // how many channels have handed over all, and are needed no more
    // Only the server process writes these. Those of Slabs are written by one thread at a time, with add_to(); the
    // others by the threads of all channels, with count_in().
    std::atomic<uint64_t> keys_held, replicas_held, slab_bytes, value_bytes;
    // In slabs: slots without a value. Where keys may be any numbers, by length class; else all in the first element.
    std::atomic<uint64_t> free_bytes[most_key_classes], free_shared_bytes[most_key_classes];
    std::atomic<uint64_t> relocations_in, relocations_out, replicas_made, requests_forwarded; // counts of keys
    std::atomic<uint64_t> intents_active, intents_waiting, messages_received;
    std::atomic<uint64_t> keys_without_room; // keys of intents
    std::atomic<uint64_t> copies_held, copy_bytes, keys_lacking_copies;
    std::atomic<uint64_t> keys_evicted, keys_expired, keys_waiting, pushes_dropped;
    std::atomic<uint64_t> rows_given, rows_at_tick; // rows_given: to keys, in all; the next tick passes at the other
    alignas(64) Latencies latencies[PS_LOCALIZE + 1][2]; // by ps_operation, and whether another node was needed
    // Of the rule for pushes, in its order; any process may change one at any time, and then sets its bit in the
    // second.
    alignas(64) std::atomic<double> settings[most_settings];
    std::atomic<uint64_t> settings_changed; // since the server last looked
    alignas(64) std::atomic<uint64_t> noise; // see Segment::settings()
};

// The values of one length, as an array of slots.
struct LengthClass {
    uint64_t base; // offset of slot 0
    uint32_t length; // elements
    uint32_t slot_bytes; // for the value, its state and the number of its row, rounded up to 8
    uint64_t keys; // most keys that there can be
    uint64_t value_bytes;
    uint64_t shared_base;
    uint64_t shared_bytes; // bytes of a shared key's slot: head, value with its state, delta
    uint32_t rule; // the rule for pushes; the same in all classes
    uint32_t state_at; // offset in the slot, behind the value; 0: the rule has no state
    uint64_t whole_bytes; // bytes of a value with its state
    uint32_t row_at; // offset in the slot of the number of its row, see Compaction; 0: there is none

    LengthClass(uint32_t length, int32_t dtype, const PushRule &push, bool has_row);
    uint64_t slab_bytes(const Header &header) const { // of a whole slab of slots
        return std::max<uint64_t>(1, header.slab_bytes_each / slot_bytes) * slot_bytes;
    }
};

// The head of a shared key's slot, guarded by the key's latch. Behind it come the value and, for a replica, the delta:
// if `changed` is set, what was pushed here since the owner was last told.
struct SharedHead {
    uint32_t is_replica;
    uint32_t changed; // since the server last looked
};

// What all workers did that have had a slot; it only grows.
struct Counters { // consists of these atomics only
    std::atomic<int64_t> calls[PS_LOCALIZE + 1]; // by ps_operation
    std::atomic<int64_t> keys[3];
    std::atomic<int64_t> local[3]; // how many of `keys` were local
    std::atomic<int64_t> waits;
    std::atomic<int64_t> remote_operations; // those that were sent and have ended
    std::atomic<int64_t> remote_wait_ns;

    std::atomic<int64_t> *begin() { return calls; }
    std::atomic<int64_t> *end() { return reinterpret_cast<std::atomic<int64_t> *>(this + 1); }
};

// Of the slot's worker.
struct Longest {
    std::atomic<int64_t> wait_ns, remote_ns;
};

// Only its worker (or channel) writes it; after the worker's death, the process that frees the slot.
struct alignas(64) WorkerSlot {
    std::atomic<uint64_t> identity; // see workers.h; a pid of 0: the slot is free
    std::atomic<uint64_t> at_row; // row + 1 of the last key whose latch this worker tried to take
    // Row + 1 of the key whose complete former value is in this slot's undo area; else 0.
    std::atomic<uint64_t> undo_row;
    std::atomic<uint64_t> clock;
    ArrivalWord arrival; // at the workers' barrier
    std::atomic<uint32_t> in_setup; // 1 while it sets up values: its intents wait
    std::atomic<uint32_t> pending; // operations on their way to other nodes
    std::atomic<uint32_t> is_aside; // 1: barriers do not wait for it
    alignas(64) Counters counters;
    Longest longest;
};

constexpr uint64_t here_block = 512; // rows whose keys are counted together: a page of the directory
constexpr uint64_t usual_slab = 1 << 20; // bytes of a slab for values
constexpr size_t endpoint_bytes = 128; // of a node's endpoint, with the zero at its end

class Segment {
public:
    // Throws PS_EINVAL if there can be no node with these options.
    static void check(const ps_node_options &options, const PushRule &push, const Initializer &initializer);
    // `members`: the nodes with which the cluster starts; empty: those that the options say.
    static std::shared_ptr<Segment> create(const ps_node_options &options, const PushRule &push = {},
                                           const Initializer &initializer = {},
                                           const std::vector<NodeId> &members = {});
    static std::shared_ptr<Segment> adopt(int fd, Doorbell doorbell, size_t reserved);

    Header &header() const { return *header_; }
    Mapping &mapping() { return mapping_; }
    const Mapping &mapping() const { return mapping_; }
    const Doorbell &doorbell() const { return doorbell_; }
    WorkerSlot &slot(uint32_t number) const { return slots_[number - 1]; }
    const LengthClass &length_class(uint32_t number) const { return classes_[number]; }
    const RangeRows &rows() const { return rows_; } // only with a range
    template <class Body>
    // Calls body(rows), which is compiled for both kinds of rows: for loops over many keys.
    decltype(auto) with_rows(Body &&body) const {
        return __builtin_expect(header_->is_range(), 1) ? body(rows_) : body(*hashed_rows_);
    }
    Row row(uint64_t key) const { // no_row only where keys may be any numbers
        return with_rows([=](const auto &rows) { return rows.find(key); });
    }
    uint64_t key(Row row) const {
        return with_rows([=](const auto &rows) { return rows.key(row); });
    }
    Entry &entry(Row row) const { return directory_[number_of(row)]; }
    Place place(Row row) const { return Place(entry(row).load(std::memory_order_relaxed)); }
    // Whether a row that was found for the key is still its row.
    bool is_of(Row row, uint64_t key) const {
        return with_rows([=](const auto &rows) { return rows.is_of(row, key); });
    }
    Place place(uint64_t key) const { // a key without a row is absent, and it is not known where it is
        Row row = this->row(key);
        if (row == no_row) return unused(key);
        Place place(entry(row).load(std::memory_order_acquire));
        return is_of(row, key) ? place : unused(key);
    }
    Place unused(uint64_t key) const { return Place(Residence::absent, key_space().length_class(key), 0); }
    // Only where keys may be any numbers: how many more keys can get a row.
    uint64_t rows_left() const { return uint64_t(header_->capacity) - maker_->live(); }
    uint64_t made_rows() const { return hashed_rows_->count(); } // only where keys may be any numbers
    // Bytes that so many more rows with keys will take, and the table that finds them when it is made anew.
    uint64_t bytes_for_rows(uint64_t more);
    void pass_time() const; // a key has got a row: see Uses
    const Uses &uses() const { return uses_; }
    const Ages &ages() const { return ages_; }
    // Where keys may be any numbers: the row of a key, made if there is none. A new one has the entry that `prepare`
    // gives it, which returns false if it cannot now because the latch of the row's former key is still held.
    // Only in the process that made the segment. Throws PS_ENOMEM; then nothing has changed.
    Row make_row(uint64_t key, const std::function<bool(Row row)> &prepare);
    void remove_row(uint64_t key); // if it has one; the caller holds its latch, and its value is gone

    char *value(const LengthClass &c, uint32_t index) const { return base_ + c.base + uint64_t(index) * c.slot_bytes; }
    SharedHead *shared(const LengthClass &c, uint32_t index) const {
        return reinterpret_cast<SharedHead *>(base_ + c.shared_base + uint64_t(index) * c.shared_bytes);
    }
    char *value(Place place) const { // the key must be here
        const LengthClass &c = classes_[place.length_class()];
        return place.residence() == Residence::shared ? value(shared(c, place.index())) : value(c, place.index());
    }
    static char *value(SharedHead *head) { return reinterpret_cast<char *>(head + 1); }
    static char *delta(SharedHead *head, const LengthClass &c) { return value(head) + c.slot_bytes; }
    // The number of the value's row + 1, where values are moved; only the server writes and reads it.
    std::atomic<uint32_t> &row_word(const LengthClass &c, uint32_t index) const {
        return *reinterpret_cast<std::atomic<uint32_t> *>(value(c, index) + c.row_at);
    }
    static char *state(char *value, const LengthClass &c) { return c.state_at ? value + c.state_at : nullptr; }
    const Rules &rules() const { return *rules_; }
    const Rule &rule() const { return (*rules_)[classes_[0].rule]; } // for pushes
    std::string optimizer() const { // as text, with its settings; empty: pushes follow another rule
        return rule().settings.empty() ? "" : rule().describe(settings());
    }
    void tune(const std::string &text); // changes settings, as ps_node_tune does; throws PS_EINVAL
    RuleSettings settings() const { // for pushes of one batch
        RuleSettings now;
        for (size_t i = 0; i < rule().settings.size(); i++)
            now.number[i] = header_->settings[i].load(std::memory_order_relaxed);
        if (header_->element_bytes < sizeof(float) && !rule().settings.empty())
            now.noise = mix(header_->noise.fetch_add(1, std::memory_order_relaxed));
        return now;
    }
    MemberSlot &member(uint32_t node) const {
        return reinterpret_cast<MemberSlot *>(base_ + header_->members_at)[node];
    }
    std::vector<NodeId> first() const; // with which the cluster starts
    std::vector<NodeId> members() const; // that this node knows, or asks to let it in
    bool joins() const { return !member(header_->node).is_first; } // the cluster, after its start
    const char *endpoint(uint32_t node) const { return base_ + header_->endpoints_at + node * endpoint_bytes; }
    void note_endpoint(uint32_t node, const std::string &endpoint); // of less than endpoint_bytes
    uint64_t directory_bytes() const; // bytes in use
    const LengthClass &class_of(uint64_t key) const {
        if (header_->num_classes == 1) return classes_[0]; // does not read the entry, which might allocate a page
        return classes_[header_->is_range() ? place(key).length_class() : key_space().length_class(key)];
    }
    // What a key's slot begins with, written into `room`: its value, and zeros as state. Null: zeros only.
    const char *first_value(uint64_t key, const LengthClass &c, std::vector<char> *room) const {
        if (header_->initializer.is_zeros()) return nullptr;
        room->assign(c.whole_bytes, 0);
        header_->initializer.fill(room->data(), c.length, header_->dtype, key);
        return room->data();
    }
    uint64_t value_bytes(uint64_t key) const { return class_of(key).value_bytes; }
    uint64_t whole_bytes(uint64_t key) const { return class_of(key).whole_bytes; }
    // How many keys of a row's block live here. The count may change a moment before or after a key's entry does.
    uint32_t keys_here(Row row) const { return here_[number_of(row) / here_block].load(std::memory_order_relaxed); }
    void note_here(Row row, int32_t change) { here_[number_of(row) / here_block].fetch_add(uint32_t(change)); }

    // Note that a shared key was changed. The holder of its latch calls it while the former value can still be put
    // back: if a worker dies before that is over, it has changed nothing.
    void note_changed(Row row) const {
        uint32_t channel = channel_rule_.channels() == 1 ? 0 : channel_rule_.channel(key(row));
        changes_[channel].note(row);
        wake_server(channel, Sleep::until_changes);
    }
    KeySpace key_space() const {
        return header_->is_range() ? KeySpace::range(uint64_t(header_->num_keys)) : KeySpace::any(header_->num_classes);
    }
    HomeRule first_homes() const { return homes_at(first()); } // when the cluster starts
    HomeRule homes_now() const { return homes_at(members()); }
    void note_members(const std::vector<std::string> &endpoints); // by node, of those that this one asks to let it in
    const ChannelRule &channel_rule() const { return channel_rule_; }
    ChannelWords &channel(uint32_t number) const { return channels_[number]; }
    const Changes &changes(uint32_t channel) const { return changes_[channel]; }
    // Wake the channel if it sleeps in a way that such a change ends. Before, the caller has made the change, with
    // sequential consistency, so that a channel that is about to sleep sees it.
    void wake_server(uint32_t channel, Sleep from) const {
        std::atomic<Sleep> &sleeps = channels_[channel].sleeps;
        if (__builtin_expect(sleeps.load() >= from, 0) && sleeps.exchange(Sleep::none) != Sleep::none)
            channel == 0 ? doorbell_.ring() : wake_all(sleeps);
    }
    // Wake all that wait in barriers, so that they look again.
    void wake_barriers() const {
        for (Rounds *rounds : {&header_->worker_rounds, &header_->node_rounds, &header_->leave_rounds})
            wake_all(*rounds);
    }

    char *sampling_memory() const { return base_ + header_->sampling_at; }
    uint32_t server_slot(uint32_t channel) const { return header_->max_workers + 1 + channel; }
    char *undo(uint32_t slot) const { return base_ + header_->undo_at + (slot - 1) * header_->undo_bytes; }

    bool is_open() const { return header_->state.load(std::memory_order_acquire) == State::open; }
    uint32_t generation() const { return generation_; } // fork_generation() of the process that created or adopted it

private:
    Segment(Mapping mapping, Doorbell doorbell, const Rules &rules);
    void find_parts();
    void note_first(const std::vector<NodeId> &members);
    template <class Is>
    std::vector<NodeId> nodes_that(Is &&is) const;
    HomeRule homes_at(std::vector<NodeId> members) const {
        return HomeRule(NodeId(header_->places), std::move(members), key_space());
    }
    void commit_rows();
    void commit_range();
    uint64_t rows_per_tick() const;
    std::unique_lock<std::mutex> lock_maker(); // locks the mutex if there are several channels
    uint64_t row_numbers() const { // all rows have smaller numbers
        return header_->is_range() ? rows_.size() : HashedRows::numbers(uint64_t(header_->capacity));
    }

    Mapping mapping_;
    Doorbell doorbell_;
    const Rules *rules_;
    uint32_t generation_;
    char *base_;
    Header *header_;
    LengthClass *classes_ = nullptr;
    WorkerSlot *slots_ = nullptr;
    RangeRows rows_{0, 1};
    std::optional<HashedRows> hashed_rows_; // only where keys may be any numbers
    Entry *directory_ = nullptr;
    Uses uses_;
    Ages ages_;
    std::atomic<uint32_t> *here_ = nullptr;
    ChannelRule channel_rule_;
    ChannelWords *channels_ = nullptr;
    std::vector<Changes> changes_; // by channel
    std::mutex maker_mutex_; // guards maker_; locked only if there are several channels
    // Only in the process that made the segment, and only where keys may be any numbers.
    std::unique_ptr<RowMaker> maker_;
};

} // namespace ps
