// Workers' operations, and the answers. Of many keys, as all that is about keys: the columns of a batch have one entry
// per key; `values` holds the keys' values one after another.
#pragma once

#include "wire/frame.h"
#include "wire/shape.h"

namespace ps {

// What a request and an answer begin with.
struct OperationHead {
    FrameHeader frame;
    uint64_t number; // of the worker's operation
    uint32_t worker;
    uint16_t node, flags, operation;
    char unused[6];
};
static_assert(sizeof(OperationHead) == 48, "as in docs/wire.md");

struct RequestBatch {
    static constexpr Kind kind = Kind::request;
    Operation operation{};
    bool from_home = false;
    NodeId node = no_node; // the origin
    uint32_t worker = 0;
    uint64_t number = 0; // of the worker's operation
    std::vector<Key> keys;
    std::vector<uint32_t> positions; // in the operation; none: 0, 1, 2, ...
    Bytes values;

    // For what is sent without being encoded: keys, positions unless they are `whole`, and values follow.
    OperationHead head(FrameHeader header, uint64_t count, bool whole) const;
    Bytes encode(FrameHeader header) const;
    static RequestBatch decode(const FrameHeader &header, FrameReader &reader, const Shape &shape, Span *values);
    uint32_t position(uint32_t index) const { return positions.empty() ? index : positions[index]; }
};

struct AnswerBatch {
    static constexpr Kind kind = Kind::answer;
    Operation operation{};
    bool whole = false;     // all keys of the operation, in its order
    bool forwarded = false; // they may have been asked of another node first
    bool refused = false;   // there is no room for the keys, and nothing was done to them
    NodeId node = no_node;  // of the worker that it is for
    uint32_t worker = 0;
    uint64_t number = 0;
    uint32_t count = 0;              // keys
    std::vector<uint32_t> positions; // none if whole
    Bytes values;                    // of a pull
    NodeId lost_with = no_node;      // instead: the keys were lost, with this node
    uint32_t position(uint32_t index) const { return whole ? index : positions[index]; }
    void note_failure(NodeId with) { // of one of the keys; no_node: it is none
        refused |= with == no_room;
        if (with != no_node) lost_with = refused ? no_node : with;
    }
    bool has_values() const { return lost_with == no_node && !refused; } // of a pull

    static AnswerBatch to(const RequestBatch &request); // to all its keys, their positions left out
    OperationHead head(FrameHeader header) const; // positions unless they are whole, and values, follow
    Bytes encode(FrameHeader header) const;
    // The length of the values is for the worker to check, which knows the keys.
    static AnswerBatch decode(const FrameHeader &header, FrameReader &reader, const Shape &shape, Span *values);
};

} // namespace ps
