// What a channel does for workers: their pulls, pushes and sets, the keys that they localize, and intents that have
// begun. The last two are done only as far as the node has room.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "net/mailbox.h"
#include "protocol/protocol.h"
#include "store/promises.h"
#include "store/traced_values.h"
#include "store/use_counts.h"

namespace ps {

class Serving {
public:
    // Gives a worker's request to another channel of this node.
    using PassOn = std::function<void(uint32_t channel, NodeId node, uint32_t worker, Bytes request)>;

    // `trace` is null if the node keeps none. `promises`: one for all channels.
    Serving(Segment &segment, uint32_t channel, StoreValues &values, Mailbox &mailbox, Protocol &protocol,
            Promises &promises, Trace *trace, PassOn pass_on)
        : segment_(segment), channel_(channel), shape_(segment), values_(values), mailbox_(mailbox),
          protocol_(protocol), promises_(promises), trace_(trace), pass_on_(std::move(pass_on)) {
        if (!segment.header().admission) return;
        use_counts_.emplace(segment);
        protocol.require_admission();
    }

    // Serve a request. A request for any channel may have keys of other channels: what a worker could do by itself is
    // done here, the rest is passed on to the keys' channels.
    void serve(const FrameHeader &header, const RequestBatch &batch, ValueBytes values, bool forwarded);
    void serve_about_rows(const RequestBatch &batch); // throws Malformed if keys are of a range, whose rows stay
    void localize(const FrameHeader &header, const RequestBatch &batch);
    bool has_localized() const { return last_waiter_ > 0; } // a worker has ever localized keys by itself
    bool has_room_for(const std::vector<Key> &keys); // which another node offers
    void landed(uint64_t waiter, NodeId lost_with); // a key that was to be localized has come (no_node) or is lost
    void forget_waiters(); // a new epoch begins, by which workers learn that these operations have failed
    void want(const std::vector<Key> &keys, bool for_long);
    void note_promised() { promises_.note(channel_, promised()); } // call it when promised keys may have come

private:
    // A worker of this node that waits for keys to land here.
    struct Waiter {
        AnswerBatch answer;
        uint32_t left;
        uint64_t bytes; // bytes that were admitted for it
    };

    using Parts = std::map<uint32_t, RequestBatch>; // by channel

    void serve_admitted(const FrameHeader &header, const RequestBatch &batch, ValueBytes values, bool forwarded);
    std::vector<Key> count_uses(const FrameHeader &header, const std::vector<Key> &keys);
    RequestBatch answer_unadmitted(const RequestBatch &batch, ValueBytes values, bool forwarded,
                                   const std::vector<Key> &unadmitted);
    std::vector<Key> admitted(const std::vector<Key> &keys) const;
    bool is_mine(const FrameHeader &header, Key key) const;
    void leave_to_protocol(const FrameHeader &header, const RequestBatch &batch, const std::vector<int64_t> &elsewhere,
                           ValueBytes values, AnswerBatch *answer);
    void leave_writes(const FrameHeader &header, const RequestBatch &batch, ValueBytes values);
    void pass_on(FrameHeader header, const RequestBatch &of, Parts parts);
    void localize_here(const RequestBatch &batch);
    bool make_rows(const FrameHeader &header, const std::vector<Key> &keys);
    void refuse(const RequestBatch &batch);
    bool has_parked(const std::vector<Key> &keys) const;
    uint64_t promised() const; // bytes for the keys that this node has asked for

    Segment &segment_;
    const uint32_t channel_;
    std::optional<UseCounts> use_counts_; // if keys must be used often enough to get rows
    StoreShape shape_;
    StoreValues &values_;
    Mailbox &mailbox_;
    Protocol &protocol_;
    Promises &promises_;
    Trace *const trace_;
    PassOn pass_on_;
    std::unordered_map<uint64_t, Waiter> waiters_;
    uint64_t last_waiter_ = 0;
    uint64_t admitted_ = 0; // bytes for all waiters' keys
};

} // namespace ps
