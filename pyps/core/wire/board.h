// The messages about notices on which all members agree. The header's epoch is the term of the board.
#pragma once

#include "protocol/board.h"
#include "wire/frame.h"
#include "wire/shape.h"

namespace ps {

struct BoardMessage {
    enum class What : uint16_t { proposal, notice, answer, copy, changes, ask };

    static constexpr Kind kind = Kind::board;
    static constexpr size_t most_name = 80, most_text = 4096; // bytes

    What what{};
    uint64_t id = 0; // of a proposal, and of the one that is answered
    Notice notice; // of `changes` only its number: how many changes the board has followed; not in an answer

    Bytes encode(FrameHeader header) const;
    static BoardMessage decode(const FrameHeader &header, FrameReader &reader);
};

} // namespace ps
