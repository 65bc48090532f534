// The messages of one operation, for each channel of each node that is asked one or, of much, several (see
// wire/bounds.h), written straight from the caller's memory.
#pragma once

#include <vector>

#include "requests/ports.h"

namespace ps {

struct ValueSpan { // of one key, in the caller's memory
    char *at;
    uint64_t bytes;
};

// An operation's keys, at least one, where each is sent to, and what goes with it.
struct Departure {
    RequestBatch head; // all but its columns
    const std::vector<Key> &keys;
    const std::vector<NodeId> &targets;
    const std::vector<ValueSpan> &spans; // of the keys' values; none: one after another from `values` on
    const char *values;
    uint64_t each;        // bytes of a value, where there are no spans
    uint64_t value_bytes; // of all, whichever way they go
    uint64_t most;        // bytes of a message; see is_one_message

    void write(FrameHeader header, NodeId num_nodes, const ChannelRule &channels, Outbox &outbox) const;

private:
    bool is_whole(const ChannelRule &channels) const;
    bool has_values() const { return head.operation == Operation::push || head.operation == Operation::set; }
    uint64_t length(size_t position) const { return spans.empty() ? each : spans[position].bytes; }
    void write_whole(FrameHeader header, const ChannelRule &channels, Outbox &outbox) const;
};

} // namespace ps
