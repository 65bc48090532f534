// The messages about notices on which all nodes agree.
#pragma once

#include "protocol/board.h"
#include "wire/frame.h"
#include "wire/shape.h"

namespace ps {

struct BoardMessage {
    enum class What : uint16_t { proposal, notice, answer };

    static constexpr Kind kind = Kind::board;
    static constexpr size_t most_name = 80, most_text = 2048; // bytes

    What what{};
    uint64_t id = 0; // of a proposal, and of the one that is answered
    Notice notice; // not in an answer

    Bytes encode(FrameHeader header) const;
    static BoardMessage decode(const FrameHeader &header, FrameReader &reader);
};

} // namespace ps
