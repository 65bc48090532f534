// The messages of one operation: one for each node that is asked, or several if there is much (see wire/bounds.h). They
// are written straight from the caller's memory.
#pragma once

#include <vector>

#include "requests/ports.h"

namespace ps {

struct ValueSpan { // the value of one key in the caller's memory
    char *at;
    uint64_t bytes;
};

// An operation's keys (at least one), the node that each is sent to, and what goes with it.
struct Departure {
    const FrameHeader &header;
    RequestBatch head; // without its columns
    ChannelRule channels;
    const std::vector<Key> &keys;
    const std::vector<NodeId> &targets;
    const std::vector<ValueSpan> &spans; // of the keys' values; empty: they lie one after another from `values` on
    const char *values;
    uint64_t each; // bytes of each value, if there are no spans
    uint64_t value_bytes; // of all values, in the request or in the answer
    uint64_t most; // most bytes of a message; see is_one_message
    std::vector<uint32_t> positions = {}; // of the keys in the operation; empty: they are all its keys

    void write(NodeId num_nodes, Outbox &outbox) const;

private:
    bool is_by_channel() const;
    bool is_whole() const;
    FrameHeader header_of(size_t first, size_t count) const; // the header of a message with so many keys from this one
    std::vector<uint32_t> lanes(NodeId num_nodes) const;
    bool has_values() const { return head.operation == Operation::push || head.operation == Operation::set; }
    uint64_t length(size_t position) const { return spans.empty() ? each : spans[position].bytes; }
    void write_whole(Outbox &outbox) const;
};

} // namespace ps
