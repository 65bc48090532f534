// What a node's server does for workers: their pulls, pushes and sets, keys that they localize, and intents that have
// begun, both as far as the node has room. Belongs to the server's thread.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "net/mailbox.h"
#include "protocol/protocol.h"
#include "store/room.h"
#include "store/traced_values.h"

namespace ps {

class Serving {
public:
    // `trace` may be null: the node keeps none.
    Serving(Segment &segment, StoreValues &values, Mailbox &mailbox, Protocol &protocol, Trace *trace)
        : segment_(segment), shape_(segment), values_(values), mailbox_(mailbox), protocol_(protocol), trace_(trace) {}

    void serve(const RequestBatch &batch, Span values, bool forwarded);
    void localize(const RequestBatch &batch);
    void landed(uint64_t waiter, NodeId lost_with); // a key that was to be localized: no_node: it is here
    void forget_waiters() { waiters_.clear(), admitted_ = 0; } // a new epoch begins: they are told by others
    void want(const std::vector<Key> &keys);

private:
    // A worker of this node that waits for keys to land here.
    struct Waiter {
        AnswerBatch answer;
        uint32_t left;
        uint64_t bytes; // admitted
    };

    void leave_to_protocol(const RequestBatch &batch, const std::vector<int64_t> &elsewhere, Span values,
                           AnswerBatch *answer);
    bool has_parked(const std::vector<Key> &keys) const;
    bool has_room(Kept kept, uint64_t bytes) const;

    Segment &segment_;
    StoreShape shape_;
    StoreValues &values_;
    Mailbox &mailbox_;
    Protocol &protocol_;
    Trace *const trace_;
    std::unordered_map<uint64_t, Waiter> waiters_;
    uint64_t last_waiter_ = 0;
    uint64_t admitted_ = 0; // bytes, of all waiters' keys
};

} // namespace ps
