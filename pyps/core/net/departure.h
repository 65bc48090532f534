// The messages of one operation, for each node that is asked one or, of much, several (see bounds.h), written straight
// from the caller's memory.
#pragma once

#include <vector>

#include "net/peer.h"
#include "net/zeromq.h"
#include "wire/operations.h"

namespace ps {

// An operation's keys, at least one, where each is sent to, and what goes with it.
struct Departure {
    RequestBatch head; // all but its columns
    const std::vector<Key> &keys;
    const std::vector<NodeId> &targets;
    const std::vector<char *> &places; // of the keys' values; none: one after another from `values` on, of one length
    const char *values;
    uint64_t value_bytes; // of all, whichever way they go

    struct Message {
        NodeId to;
        ZmqMessage message;
    };
    std::vector<Message> write(const FrameHeader &header, const StoreShape &shape) const;

private:
    bool has_values() const { return head.operation == Operation::push || head.operation == Operation::set; }
    ZmqMessage write_whole(const FrameHeader &header, const StoreShape &shape) const;
};

} // namespace ps
