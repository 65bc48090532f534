// Messages about many keys: what the protocol says about single keys, gathered by addressee. The columns of a batch
// have one entry per key; `values` holds the keys' values one after another.
#pragma once

#include "frame.h"
#include "protocol/messages.h"

namespace ps {

// What a message's contents are checked against.
class Shape {
public:
    virtual ~Shape() = default;
    virtual uint64_t num_keys() const = 0;
    virtual NodeId num_nodes() const = 0;
    virtual uint64_t value_bytes(Key key) const = 0;
    virtual uint64_t total_bytes(const std::vector<Key> &keys) const {
        uint64_t total = 0;
        for (Key key : keys) total += value_bytes(key);
        return total;
    }
};

// Values in a message that was received: where they lie in it.
struct Span {
    const char *at = nullptr;
    uint64_t bytes = 0;
};

// What a request and an answer begin with.
struct OperationHead {
    static constexpr uint16_t from_home = 1, whole = 2; // flags
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
    NodeId node = no_node;  // whose worker it is for
    uint32_t worker = 0;
    uint64_t number = 0;
    uint32_t count = 0;              // keys
    std::vector<uint32_t> positions; // none if whole
    Bytes values;                    // of a pull
    NodeId lost_with = no_node;      // instead: the keys were lost, with this node
    uint32_t position(uint32_t index) const { return whole ? index : positions[index]; }

    OperationHead head(FrameHeader header) const; // positions unless they are whole, and values, follow
    Bytes encode(FrameHeader header) const;
    // How long the values are is for the worker to check, who knows its keys.
    static AnswerBatch decode(const FrameHeader &header, FrameReader &reader, const Shape &shape, Span *values);
};

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
    uint32_t worker = 0; // its slot
    int64_t start = 0, end = 0;
    std::vector<Key> keys;

    Bytes encode(FrameHeader header) const;
    static IntentBatch decode(const FrameHeader &header, FrameReader &reader, const Shape &shape);
};

struct EndedBatch {
    static constexpr Kind kind = Kind::ended;
    std::vector<Key> keys;
    std::vector<uint32_t> numbers;

    Bytes encode(FrameHeader header) const;
    static EndedBatch decode(const FrameHeader &header, FrameReader &reader, const Shape &shape);
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

// The header of a message, checked. Throws Malformed, like all decoding.
FrameHeader decode_header(FrameReader &reader, uint64_t cluster, const Shape &shape);

} // namespace ps
