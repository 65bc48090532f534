// The message about changed settings of the rule for pushes, and its answer.
#pragma once

#include "frame.h"
#include "protocol/agreed_settings.h"
#include "wire/shape.h"

namespace ps {

struct SettingsMessage {
    static constexpr Kind kind = Kind::settings;
    SettingNews news;

    std::vector<char> encode(FrameHeader header) const;
    // Does not check the settings themselves: the receiver does, which knows the rule.
    static SettingsMessage decode(const FrameHeader &header, FrameReader &reader, const Shape &shape);
};

} // namespace ps
