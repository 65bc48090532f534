// Messages about where keys live: orders to move them, the keys themselves, and what members tell the homes about them.
#pragma once

#include "wire/frame.h"
#include "wire/shape.h"

namespace ps {

// Keys and a node.
template <Kind of>
struct KeysBatch {
    static constexpr Kind kind = of;
    NodeId node = no_node;
    std::vector<Key> keys;

    Bytes encode(FrameHeader header) const;
    static KeysBatch decode(const FrameHeader &header, FrameReader &reader, const Shape &shape);
};
using LocalizeBatch = KeysBatch<Kind::localize>; // the keys are to live at the node
using RelocateBatch = KeysBatch<Kind::relocate>; // the keys are to be handed to the node
using OfferBatch = KeysBatch<Kind::offer>; // the node leaves, and the receiver is to have the keys
// The keys were lost with the node. Instead of a node no_room: there is no room for them; or not_admitted.
using GoneBatch = KeysBatch<Kind::gone>;

struct TransferBatch {
    static constexpr Kind kind = Kind::transfer;
    std::vector<Key> keys;
    std::vector<Transfer> transfers; // these contain the values

    Bytes encode(FrameHeader header) const;
    static TransferBatch decode(const FrameHeader &header, FrameReader &reader, const Shape &shape);
};

// Transfers without replicas and ghosts.
struct MovesBatch : Moves {
    static constexpr Kind kind = Kind::moves;

    Bytes encode(FrameHeader header) const;
    static MovesBatch decode(const FrameHeader &header, FrameReader &reader, const Shape &shape, ValueBytes *values);
};

// Between members at the beginning of an epoch. mark: later messages of the sender belong to the epoch. report, to the
// home of these keys: the sender has them, or backups of them, or they were lost with `node`. done: the sender has
// reported everything.
struct HoldsBatch {
    enum class Phase : uint16_t { mark, report, done };

    static constexpr Kind kind = Kind::holds;
    Phase phase{};
    bool lost = false;
    NodeId node = 0; // the sender, or the node with which the keys were lost
    std::vector<Key> keys;
    std::vector<uint64_t> versions; // of backups

    Bytes encode(FrameHeader header) const;
    static HoldsBatch decode(const FrameHeader &header, FrameReader &reader, const Shape &shape);
};

} // namespace ps
