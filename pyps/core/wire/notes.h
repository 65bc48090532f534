// Messages about the members of the cluster.
#pragma once

#include <string>

#include "frame.h"
#include "membership/notes.h"

namespace ps {

class Shape;

// A Join, and where its sender listens.
struct JoinMessage {
    Join join;
    std::string endpoint;
};

// An Introduction, and where each of the members listens.
struct IntroductionMessage {
    Introduction introduction;
    std::vector<std::string> endpoints;
};

Bytes encode(const Alive &message, FrameHeader header);
Bytes encode(const Lost &message, FrameHeader header);
Bytes encode(const Vote &message, FrameHeader header);
Bytes encode(const JoinMessage &message, FrameHeader header);
Bytes encode(const IntroductionMessage &message, FrameHeader header);

// Decode what follows the header; all throw Malformed.
Alive decode_alive(const FrameHeader &header, FrameReader &reader, const Shape &shape);
Lost decode_lost(const FrameHeader &header, FrameReader &reader, const Shape &shape);
Vote decode_vote(const FrameHeader &header, FrameReader &reader, const Shape &shape);
JoinMessage decode_join(const FrameHeader &header, FrameReader &reader, const Shape &shape);
IntroductionMessage decode_introduction(const FrameHeader &header, FrameReader &reader, const Shape &shape);

} // namespace ps
