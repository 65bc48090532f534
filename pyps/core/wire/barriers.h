// Messages about waiting: at barriers, and for what is on its way.
#pragma once

#include "frame.h"
#include "protocol/gate.h"

namespace ps {

enum class Barriers : uint16_t { workers, nodes, leave }; // leave: the nodes' common end
constexpr size_t num_barriers = 3;

struct AttendMessage {
    static constexpr Kind kind = Kind::attend;
    Barriers barrier{};
    Attend attend{};

    std::vector<char> encode(FrameHeader header) const;
    static AttendMessage decode(const FrameHeader &header, FrameReader &reader);
};

struct OpenedMessage {
    static constexpr Kind kind = Kind::opened;
    Barriers barrier{};
    Opened opened{};

    std::vector<char> encode(FrameHeader header) const;
    static OpenedMessage decode(const FrameHeader &header, FrameReader &reader);
};

// For wait_sync; for quiesce; for a wait_sync that lets its worker go on.
enum class Until : uint16_t { exchanged, quiet, told };

struct SettleMessage {
    static constexpr Kind kind = Kind::settle;
    Until until{};
    uint64_t number = 0; // of the worker's question

    std::vector<char> encode(FrameHeader header) const;
    static SettleMessage decode(const FrameHeader &header, FrameReader &reader);
};

// The end of a round, or the answer that everything up to it was taken in.
struct RoundMessage {
    Kind kind{};
    uint64_t number = 0;

    std::vector<char> encode(FrameHeader header) const;
    static RoundMessage decode(const FrameHeader &header, FrameReader &reader);
};

} // namespace ps
