// Where keys live: what makes them move, the keys themselves, and what members tell homes about them.
#pragma once

#include "wire/frame.h"
#include "wire/shape.h"

namespace ps {

struct LocalizeBatch {
    static constexpr Kind kind = Kind::localize;
    NodeId to = no_node;
    std::vector<Key> keys;

    Bytes encode(FrameHeader header) const;
    static LocalizeBatch decode(const FrameHeader &header, FrameReader &reader, const Shape &shape);
};

struct RelocateBatch {
    static constexpr Kind kind = Kind::relocate;
    NodeId to = no_node;
    std::vector<Key> keys;

    Bytes encode(FrameHeader header) const;
    static RelocateBatch decode(const FrameHeader &header, FrameReader &reader, const Shape &shape);
};

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

// Between members at the beginning of an epoch: mark, what the sender says from now on belongs to it; report, to the home
// of these keys, that it has them, or that they were lost with a node; done, it has reported all.
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

struct GoneBatch {
    static constexpr Kind kind = Kind::gone;
    NodeId with = no_node;
    std::vector<Key> keys;

    Bytes encode(FrameHeader header) const;
    static GoneBatch decode(const FrameHeader &header, FrameReader &reader, const Shape &shape);
};

} // namespace ps
