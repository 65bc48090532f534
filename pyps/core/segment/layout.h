// What lies in a node's shared memory beside its values and rows: the header, and what all processes see of the length
// classes, the server's channels and the workers. Segment says in which order the parts come.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "protocol/key_space.h"
#include "ps.h"
#include "segment/latencies.h"
#include "segment/process.h"
#include "segment/uses.h"
#include "store/compression.h"
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
    Compression compression;
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
    std::atomic<uint32_t> skips_intents; // whether workers do not send short ones, see IntentTrials
    std::atomic<int64_t> told_ahead; // the most clocks until the end of a short intent, when workers told of it
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
    std::atomic<uint64_t> intents_active, intents_waiting, intents_skipped, messages_received;
    std::atomic<uint64_t> keys_without_room; // keys of intents
    std::atomic<uint64_t> copies_held, copy_bytes, keys_lacking_copies, keys_to_take_over;
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
// what was pushed here and not sent to the owner, if `changed` or `has_rest` is set.
struct SharedHead {
    uint16_t is_replica;
    std::atomic<uint16_t> is_closed; // of a replica: workers must not use it; set without the latch
    uint16_t changed; // since the server last looked
    uint16_t has_rest; // of a replica: of a delta that was compressed

    bool has_delta() const { return changed || has_rest; }
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

} // namespace ps
