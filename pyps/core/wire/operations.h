// Workers' operations, and the answers to them. As all messages about keys, they are for many keys: each column has one
// entry per key, and `values` has the keys' values one after another.
#pragma once

#include "wire/frame.h"
#include "wire/shape.h"

namespace ps {

// What a request and an answer begin with.
struct OperationHead {
    FrameHeader frame;
    uint64_t number; // of the worker's operation
    uint32_t worker;
    uint16_t node, flags, operation, lost_with;
    uint32_t behind; // of a request; see Origin
};
static_assert(sizeof(OperationHead) == 48, "as in docs/wire.md");

struct RequestBatch {
    static constexpr Kind kind = Kind::request;
    Operation operation{};
    bool from_home = false;
    NodeId node = no_node; // the worker's node
    uint32_t worker = 0;
    uint64_t number = 0; // of the worker's operation
    uint32_t behind = 0; // see Origin
    std::vector<Key> keys;
    std::vector<uint32_t> positions; // of the keys in the operation; empty: 0, 1, 2, ...
    Bytes values;

    // For a message that is written without encode(): keys, positions unless it is `whole`, and values follow.
    OperationHead head(FrameHeader header, uint64_t count, bool whole) const;
    Bytes encode(FrameHeader header) const;
    static RequestBatch decode(const FrameHeader &header, FrameReader &reader, const Shape &shape, ValueBytes *values);
    uint32_t position(uint32_t index) const { return positions.empty() ? index : positions[index]; }
    Origin origin(uint32_t index) const { return {node, worker, position(index), number, behind}; }
};

struct AnswerBatch {
    static constexpr Kind kind = Kind::answer;
    Operation operation{};
    bool whole = false; // it answers all keys of the operation, in their order
    bool forwarded = false; // another node may have been asked for these keys first
    bool refused = false; // there is no room for the keys, and nothing was done to them
    NodeId node = no_node; // the worker's node
    uint32_t worker = 0;
    uint64_t number = 0;
    uint32_t count = 0; // number of keys
    std::vector<uint32_t> positions; // empty if whole
    Bytes values; // in an answer to a pull
    NodeId lost_with = no_node; // if it is a node: the keys were lost with it, and there are no values
    uint32_t position(uint32_t index) const { return whole ? index : positions[index]; }
    void note_failure(NodeId with) { // one of the keys was lost with a node, or had no_room; no_node: neither
        refused |= with == no_room;
        if (with != no_node) lost_with = refused ? no_node : with;
    }
    bool has_values() const { return lost_with == no_node && !refused; } // if it is a pull

    static AnswerBatch to(const RequestBatch &request); // for all keys of the request; the positions are left out
    OperationHead head(FrameHeader header) const; // positions unless it is `whole`, and values, follow
    Bytes encode(FrameHeader header) const;
    // Does not check the length of the values: the worker does, which knows the keys.
    static AnswerBatch decode(const FrameHeader &header, FrameReader &reader, const Shape &shape, ValueBytes *values);
};

} // namespace ps
