// What lies in a node's shared memory, in this order:
// header | length classes | slots of workers and the server's channels | directory | how many keys are here, per block
// | per channel which shared keys were changed | undo areas, one per slot | values: per length class a region for keys
// that only this node has, and one for shared keys | what is known about sampling.
// The directory, the counts and the changes go by rows (see rows.h). What these have for other nodes' keys of a range
// is the only memory that is used without having been committed: with the first use of a key of its page. Keys that may
// be any numbers have their rows in a region before the directory, and memory as they come.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "protocol/channels.h"
#include "ps.h"
#include "segment/changes.h"
#include "segment/directory.h"
#include "segment/doorbell.h"
#include "segment/futex.h"
#include "segment/mapping.h"
#include "segment/process.h"
#include "segment/row_maker.h"
#include "segment/rows.h"
#include "store/rules.h"

namespace ps {

// lost: a node was, perhaps this one; see loss.h.
enum class State : uint32_t { open = 1, closed = 2, failed = 3, lost = 4 };

// What this node knows of each node of the cluster. Written by the server process alone.
enum class Member : uint32_t { here = 0, left = 1, lost = 2 };
struct MemberSlot {
    std::atomic<Member> state;
    std::atomic<uint16_t> evidence, by; // written before it is lost: how that is known, and by which node
};

// A barrier as those who wait see it: how many rounds are over, modulo 2^32; a futex.
using Rounds = std::atomic<uint32_t>;
// Of somebody who comes to barriers: 0, or `arrived` and in the low bits the round that this was for; with
// `withdrawing` he wants to go again, which the server of several nodes makes a 0.
using ArrivalWord = std::atomic<uint64_t>;
constexpr uint64_t arrived = uint64_t(1) << 32, withdrawing = uint64_t(1) << 33;

// What wakes a channel of the server: a message, also a shared key that was changed, also a clock that was advanced.
enum class Sleep : uint32_t { none = 0, until_messages = 1, until_changes = 2, until_clocks = 3 };

// What workers see of a channel. A channel with a thread of its own sleeps on the word, the first one on the doorbell.
struct alignas(64) ChannelWords {
    std::atomic<Sleep> sleeps; // see wake_server()
};

// Written before any other process sees it, except for the atomics.
struct Header {
    uint64_t magic;
    uint32_t abi;
    int32_t dtype;
    uint64_t reserved_bytes; // of the whole range
    int64_t num_keys; // of a range, or 0: keys may be any numbers
    int64_t capacity; // rows; of a range its keys
    int64_t total_values; // of a range
    int64_t longest_value;
    int64_t value_length; // or 0
    uint32_t element_bytes;
    uint32_t num_classes;
    uint32_t max_workers;
    uint32_t num_workers;
    uint64_t memory_limit;
    uint64_t undo_bytes; // of one slot: the longest value with its state; of several nodes a shared one, with its delta
    uint64_t classes_at, endpoints_at, slots_at, rows_at, directory_at, here_at, changes_at, undo_at, values_at,
        sampling_at;
    uint64_t cluster; // a number that its nodes share
    uint32_t num_nodes, node; // 1 and 0: alone
    uint32_t techniques;
    char curve_public[41], curve_secret[41]; // or empty; written before `connected`
    double latch_timeout;
    Process server;
    uint64_t members_at;
    double heartbeat, lost_after; // seconds
    uint32_t on_loss;
    uint64_t in_flight; // bytes of a worker
    uint32_t num_channels; // of the server
    uint64_t channels_at;

    bool is_range() const { return num_keys > 0; }
    // There may be keys that a worker cannot see to by itself: of other nodes, or such as have no row yet.
    bool has_server() const { return num_nodes > 1 || !is_range(); }

    alignas(64) std::atomic<State> state;
    std::atomic<uint32_t> connected; // the endpoints are there
    Rounds worker_rounds; // the workers' barrier
    Rounds node_rounds, leave_rounds; // the nodes' barriers: Server.barrier(), and before they close
    ArrivalWord node_arrival, leave_arrival; // this node's
    std::atomic<uint32_t> sampling; // see sampling/sampling_area.cpp
    std::atomic<uint32_t> slots_used; // slots 1..slots_used were claimed at least once
    alignas(64) std::atomic<uint64_t> version_turns; // how often a latch's versions began anew: see latch.h
    alignas(64) std::atomic<uint64_t> joined, reclaimed, recovered, restored;
    std::atomic<uint64_t> refused; // messages
    std::atomic<uint64_t> peers_refused; // connections, for want of the cluster's keys
    std::atomic<uint32_t> refusal_kept;
    char first_refusal[160]; // written before `refusal_kept` is set, by whoever refused the first one
    char library[4096]; // the file that other processes open to reach nodes; written before `connected`
    std::atomic<uint32_t> ending, ended; // 1: somebody writes the next two; they are there
    uint32_t lost_node; // written before `state` becomes `failed` or `lost`
    char failure[200]; // why
    std::atomic<uint32_t> parted; // a node that has shut down, + 1; only where that ends what needs other nodes
    std::atomic<uint32_t> epoch; // of the membership; written after the members and the next one
    std::atomic<uint32_t> lost_last; // a node that the epoch began without
    // Written by the server process alone: those of Slabs by one thread at a time, which take add_to(), the others by
    // the threads of all channels, which take count_in().
    std::atomic<uint64_t> keys_held, replicas_held, slab_bytes, value_bytes;
    std::atomic<uint64_t> free_bytes, free_shared_bytes; // of slabs: slots without a value
    std::atomic<uint64_t> relocations_in, relocations_out, replicas_made, requests_forwarded; // keys
    std::atomic<uint64_t> intents_active, intents_waiting, messages_received;
    std::atomic<uint64_t> keys_without_room; // of intents
};

// The values of one length, as an array of slots.
struct LengthClass {
    uint64_t base; // offset of slot 0
    uint32_t length; // elements
    uint32_t slot_bytes; // the value's and its state's, rounded up to 8
    uint64_t keys; // at most
    uint64_t value_bytes;
    uint64_t shared_base;
    uint64_t shared_bytes; // of a shared key's slot: head, value with its state, delta
    uint32_t rule; // of pushes, the same in all classes
    uint32_t state_at; // in the slot, where the rule has state: behind the value
    uint64_t whole_bytes; // the value with its state

    LengthClass(uint32_t length, uint32_t element_bytes, const PushRule &push);
};

// Of a shared key's slot, guarded by the key's latch. Then come the value and, of a replica, the delta: what was pushed
// here since it was last told to the owner, if the key is changed.
struct SharedHead {
    uint32_t is_replica;
    uint32_t changed; // since the server looked
};

struct Counters { // of these atomics alone
    std::atomic<int64_t> calls[3]; // by ps_operation
    std::atomic<int64_t> keys[3];
    std::atomic<int64_t> local[3]; // of the keys
    std::atomic<int64_t> waits;
    std::atomic<int64_t> longest_wait_ns;
    std::atomic<int64_t> remote_operations; // that were sent and have ended
    std::atomic<int64_t> remote_wait_ns, longest_remote_ns;

    std::atomic<int64_t> *begin() { return calls; }
    std::atomic<int64_t> *end() { return reinterpret_cast<std::atomic<int64_t> *>(this + 1); }
};

// Written by its worker (or the server) alone, except by whoever recovers from the worker's death.
struct alignas(64) WorkerSlot {
    std::atomic<uint64_t> identity; // see workers.h; 0 pid: free
    std::atomic<uint64_t> at_row; // row + 1: of the last key whose latch this worker reached for
    std::atomic<uint64_t> undo_row; // row + 1: its former value lies complete in this slot's undo area; else 0
    std::atomic<uint64_t> clock;
    ArrivalWord arrival; // at the workers' barrier
    std::atomic<uint32_t> in_setup; // its intents wait
    alignas(64) Counters counters;
};

constexpr uint64_t here_block = 512; // numbers of rows whose keys are counted together: a page of the directory
constexpr size_t endpoint_bytes = 128; // of a node's endpoint, with its end

class Segment {
public:
    static std::shared_ptr<Segment> create(const ps_node_options &options, const PushRule &push = {});
    static std::shared_ptr<Segment> adopt(int fd, Doorbell doorbell, size_t reserved);

    Header &header() const { return *header_; }
    Mapping &mapping() { return mapping_; }
    const Doorbell &doorbell() const { return doorbell_; }
    WorkerSlot &slot(uint32_t number) const { return slots_[number - 1]; }
    const LengthClass &length_class(uint32_t number) const { return classes_[number]; }
    const RangeRows &rows() const { return rows_; } // of a range
    template <class Body>
    decltype(auto) with_rows(Body &&body) const { // body(rows), compiled for both kinds: for what is about many keys
        return __builtin_expect(header_->is_range(), 1) ? body(rows_) : body(*hashed_rows_);
    }
    Row row(uint64_t key) const { // no_row: only of keys that may be any, of which many are known to nobody here
        return with_rows([=](const auto &rows) { return rows.find(key); });
    }
    uint64_t key(Row row) const {
        return with_rows([=](const auto &rows) { return rows.key(row); });
    }
    Entry &entry(Row row) const { return directory_[number_of(row)]; }
    Place place(Row row) const { return Place(entry(row).load(std::memory_order_relaxed)); }
    Place place(uint64_t key) const { // without a row: absent, and nothing is known of where it is
        Row row = this->row(key);
        return row == no_row ? Place(Residence::absent, 0, 0) : place(row);
    }
    uint64_t rows_left() const {
        return uint64_t(header_->capacity) - hashed_rows_->count();
    } // of keys that may be any
    // A row for a key that may be any, in the process that made the segment. A new one has `place`, and `is_new` is
    // set. Throws PS_ENOMEM; then nothing has changed.
    Row make_row(uint64_t key, Place place, bool *is_new);

    char *value(const LengthClass &c, uint32_t index) const { return base_ + c.base + uint64_t(index) * c.slot_bytes; }
    SharedHead *shared(const LengthClass &c, uint32_t index) const {
        return reinterpret_cast<SharedHead *>(base_ + c.shared_base + uint64_t(index) * c.shared_bytes);
    }
    char *value(Place place) const { // of a key that is here
        const LengthClass &c = classes_[place.length_class()];
        return place.residence() == Residence::shared ? value(shared(c, place.index())) : value(c, place.index());
    }
    static char *value(SharedHead *head) { return reinterpret_cast<char *>(head + 1); }
    static char *delta(SharedHead *head, const LengthClass &c) { return value(head) + c.slot_bytes; }
    static char *state(char *value, const LengthClass &c) { return value + c.state_at; } // where there is any
    const Rules &rules() const { return *rules_; }
    const Rule &rule(const LengthClass &c) const { return (*rules_)[c.rule]; }
    MemberSlot &member(uint32_t node) const {
        return reinterpret_cast<MemberSlot *>(base_ + header_->members_at)[node];
    }
    char *endpoint(uint32_t node) const { return base_ + header_->endpoints_at + node * endpoint_bytes; }
    uint64_t directory_bytes() const; // in use
    const LengthClass &class_of(uint64_t key) const {
        if (header_->num_classes == 1) return classes_[0]; // without a look at the entry, which may take a new page
        return classes_[place(key).length_class()];
    }
    uint64_t value_bytes(uint64_t key) const { return class_of(key).value_bytes; }
    uint64_t whole_bytes(uint64_t key) const { return class_of(key).whole_bytes; }
    // How many keys of a row's block live here. A key comes and goes a moment before or after its entry says so.
    uint32_t keys_here(Row row) const { return here_[number_of(row) / here_block].load(std::memory_order_relaxed); }
    void note_here(Row row, int32_t change) { here_[number_of(row) / here_block].fetch_add(uint32_t(change)); }

    // Of a shared key, by the holder of its latch, while its former value can still be put back: a worker that dies
    // before this is over has changed nothing.
    void note_changed(Row row) const {
        uint32_t channel = channel_rule_.channels() == 1 ? 0 : channel_rule_.channel(key(row));
        changes_[channel].note(row);
        wake_server(channel, Sleep::until_changes);
    }
    KeySpace key_space() const {
        return header_->is_range() ? KeySpace::range(uint64_t(header_->num_keys)) : KeySpace::any();
    }
    const ChannelRule &channel_rule() const { return channel_rule_; }
    ChannelWords &channel(uint32_t number) const { return channels_[number]; }
    const Changes &changes(uint32_t channel) const { return changes_[channel]; }
    // Once the caller has changed, with sequential consistency, what the channel looks at when it has said that it
    // sleeps.
    void wake_server(uint32_t channel, Sleep from) const {
        std::atomic<Sleep> &sleeps = channels_[channel].sleeps;
        if (__builtin_expect(sleeps.load() >= from, 0) && sleeps.exchange(Sleep::none) != Sleep::none)
            channel == 0 ? doorbell_.ring() : wake_all(sleeps);
    }

    char *sampling_memory() const { return base_ + header_->sampling_at; }
    uint32_t server_slot(uint32_t channel) const { return header_->max_workers + 1 + channel; }
    char *undo(uint32_t slot) const { return base_ + header_->undo_at + (slot - 1) * header_->undo_bytes; }

    bool is_open() const { return header_->state.load(std::memory_order_acquire) == State::open; }
    uint32_t generation() const { return generation_; } // of the process that created or adopted it

private:
    Segment(Mapping mapping, Doorbell doorbell, const Rules &rules);
    void find_parts();
    void commit_rows();
    void commit_range();
    uint64_t row_numbers() const { // above those of all rows
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
    std::optional<HashedRows> hashed_rows_; // of keys that may be any
    Entry *directory_ = nullptr;
    std::atomic<uint32_t> *here_ = nullptr;
    ChannelRule channel_rule_;
    ChannelWords *channels_ = nullptr;
    std::vector<Changes> changes_; // by channel
    std::mutex maker_mutex_; // of several channels
    std::unique_ptr<RowMaker> maker_; // in the process that made the segment, of keys that may be any
};

} // namespace ps
