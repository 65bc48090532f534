// The message about trials whether intents pay.
#pragma once

#include "protocol/intent_trials.h"
#include "wire/frame.h"
#include "wire/shape.h"

namespace ps {

struct TrialMessage {
    static constexpr Kind kind = Kind::trial;
    TrialNote note;

    Bytes encode(FrameHeader header) const;
    static TrialMessage decode(const FrameHeader &header, FrameReader &reader, const Shape &shape);
};

} // namespace ps
