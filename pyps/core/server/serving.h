// What a channel does for workers: their pulls, pushes and sets, keys that they localize, and intents that have begun,
// both as far as the node has room.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "net/mailbox.h"
#include "protocol/protocol.h"
#include "store/promises.h"
#include "store/traced_values.h"

namespace ps {

class Serving {
public:
    // Gives a worker's request to another channel of this node.
    using PassOn = std::function<void(uint32_t channel, NodeId node, uint32_t worker, Bytes request)>;

    // `trace` may be null: the node keeps none. `promises`: of all channels.
    Serving(Segment &segment, uint32_t channel, StoreValues &values, Mailbox &mailbox, Protocol &protocol,
            Promises &promises, Trace *trace, PassOn pass_on)
        : segment_(segment), channel_(channel), shape_(segment), values_(values), mailbox_(mailbox),
          protocol_(protocol), promises_(promises), trace_(trace), pass_on_(std::move(pass_on)) {}

    // Requests with their headers. Keys of other channels, in requests for any, are served as far as a worker could do
    // it by itself; the rest goes to their channels.
    void serve(const FrameHeader &header, const RequestBatch &batch, Span values, bool forwarded);
    void localize(const FrameHeader &header, const RequestBatch &batch);
    void landed(uint64_t waiter, NodeId lost_with); // a key that was to be localized: no_node: it is here
    void forget_waiters(); // a new epoch begins: they are told by others
    void want(const std::vector<Key> &keys);
    void note_promised() { promises_.note(channel_, promised()); } // when some of it may have come

private:
    // A worker of this node that waits for keys to land here.
    struct Waiter {
        AnswerBatch answer;
        uint32_t left;
        uint64_t bytes; // admitted
    };

    using Parts = std::map<uint32_t, RequestBatch>; // by channel

    void leave_to_protocol(const FrameHeader &header, const RequestBatch &batch, const std::vector<int64_t> &elsewhere,
                           Span values, AnswerBatch *answer);
    void pass_on(FrameHeader header, const RequestBatch &of, Parts parts);
    void localize_here(const RequestBatch &batch);
    bool make_rows(const FrameHeader &header, const std::vector<Key> &keys);
    void refuse(const RequestBatch &batch);
    bool has_parked(const std::vector<Key> &keys) const;
    uint64_t promised() const; // bytes, to keys that this node asks for

    Segment &segment_;
    const uint32_t channel_;
    StoreShape shape_;
    StoreValues &values_;
    Mailbox &mailbox_;
    Protocol &protocol_;
    Promises &promises_;
    Trace *const trace_;
    PassOn pass_on_;
    std::unordered_map<uint64_t, Waiter> waiters_;
    uint64_t last_waiter_ = 0;
    uint64_t admitted_ = 0; // bytes, of all waiters' keys
};

} // namespace ps
