// Messages about barriers between nodes.
#pragma once

#include "frame.h"
#include "protocol/gate.h"

namespace ps {

enum class Barriers : uint16_t { workers, nodes, leave }; // which barrier is meant
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

} // namespace ps
