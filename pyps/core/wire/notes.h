// Messages about the members of the cluster.
#pragma once

#include "frame.h"
#include "membership/notes.h"

namespace ps {

class Shape;

Bytes encode(const Alive &message, FrameHeader header);
Bytes encode(const Lost &message, FrameHeader header);
Bytes encode(const Vote &message, FrameHeader header);

// Decode what follows the header; all throw Malformed.
Alive decode_alive(const FrameHeader &header, FrameReader &reader, const Shape &shape);
Lost decode_lost(const FrameHeader &header, FrameReader &reader, const Shape &shape);
Vote decode_vote(const FrameHeader &header, FrameReader &reader, const Shape &shape);

} // namespace ps
