// Where keys live: what makes them move, the keys themselves, and what members tell homes about them.
#pragma once

#include "wire/frame.h"
#include "wire/shape.h"

namespace ps {

// Keys, and a node.
template <Kind of>
struct KeysBatch {
    static constexpr Kind kind = of;
    NodeId node = no_node;
    std::vector<Key> keys;

    Bytes encode(FrameHeader header) const;
    static KeysBatch decode(const FrameHeader &header, FrameReader &reader, const Shape &shape);
};
using LocalizeBatch = KeysBatch<Kind::localize>; // are to live there
using RelocateBatch = KeysBatch<Kind::relocate>; // are to be handed over to it
using GoneBatch = KeysBatch<Kind::gone>;         // were lost with it; or no_room

struct TransferBatch {
    static constexpr Kind kind = Kind::transfer;
    std::vector<Key> keys;
    std::vector<Transfer> transfers; // with the values in them

    Bytes encode(FrameHeader header) const;
    static TransferBatch decode(const FrameHeader &header, FrameReader &reader, const Shape &shape);
};

// Transfers without replicas and ghosts.
struct MovesBatch : Moves {
    static constexpr Kind kind = Kind::moves;

    Bytes encode(FrameHeader header) const;
    static MovesBatch decode(const FrameHeader &header, FrameReader &reader, const Shape &shape, Span *values);
};

// Between members at the beginning of an epoch: mark, what the sender says from now on belongs to it; report, to the
// home of these keys, that it has them, or that they were lost with a node; done, it has reported all.
struct HoldsBatch {
    enum class Phase : uint16_t { mark, report, done };

    static constexpr Kind kind = Kind::holds;
    Phase phase{};
    bool lost = false;
    NodeId node = 0; // the sender, or with whom they were lost
    std::vector<Key> keys;

    Bytes encode(FrameHeader header) const;
    static HoldsBatch decode(const FrameHeader &header, FrameReader &reader, const Shape &shape);
};

} // namespace ps
