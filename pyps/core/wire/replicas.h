// Messages about replicas of keys: which node wants them, what was pushed to them, and their new values.
// Also intents, because of which nodes want them.
#pragma once

#include "wire/frame.h"
#include "wire/shape.h"

namespace ps {

struct WantBatch {
    static constexpr Kind kind = Kind::want;
    NodeId node = no_node;
    bool from_home = false;
    std::vector<Key> keys;
    std::vector<uint32_t> numbers;

    Bytes encode(FrameHeader header) const;
    static WantBatch decode(const FrameHeader &header, FrameReader &reader, const Shape &shape);
};

struct DeltaBatch {
    static constexpr Kind kind = Kind::delta;
    NodeId node = no_node;
    bool from_home = false;
    std::vector<Key> keys;
    std::vector<Delta> deltas;
    Packing packing; // of those that are parts

    Bytes encode(FrameHeader header) const;
    static DeltaBatch decode(const FrameHeader &header, FrameReader &reader, const Shape &shape);
};

struct RefreshBatch {
    static constexpr Kind kind = Kind::refresh;
    NodeId owner = no_node;
    std::vector<Key> keys;
    std::vector<Refresh> refreshes;

    Bytes encode(FrameHeader header) const;
    static RefreshBatch decode(const FrameHeader &header, FrameReader &reader, const Shape &shape);
};

// From a worker to its own node.
struct IntentBatch {
    static constexpr Kind kind = Kind::intent;
    uint32_t worker = 0; // the worker's slot
    int64_t start = 0, end = 0;
    std::vector<Key> keys;

    Bytes encode(FrameHeader header) const;
    static IntentBatch decode(const FrameHeader &header, FrameReader &reader, const Shape &shape);
};

} // namespace ps
