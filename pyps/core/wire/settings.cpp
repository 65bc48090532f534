#include "wire/settings.h"

#include "wire/parts.h"

namespace ps {

std::vector<char> SettingsMessage::encode(FrameHeader header) const {
    FrameWriter writer(head(header, kind, news.changes.size()));
    writer.put(news.serial);
    for (const SettingChange &change : news.changes) {
        writer.put(change.index);
        writer.zeros(4);
        writer.put(change.version);
        writer.put(change.value);
    }
    return writer.take();
}

SettingsMessage SettingsMessage::decode(const FrameHeader &header, FrameReader &reader, const Shape &shape) {
    constexpr uint64_t bytes = 24; // of one
    SettingsMessage message;
    message.news.serial = reader.get<uint64_t>();
    if (message.news.serial == 0) throw Malformed("serials of messages about settings begin with 1");
    if (reader.left() / bytes < header.count) throw Malformed("it has fewer settings than it counts");
    for (uint32_t i = 0; i < header.count; i++) {
        SettingChange change{};
        change.index = reader.get<uint32_t>();
        reader.zeros(4);
        change.version = reader.get<uint64_t>();
        change.value = reader.get<double>();
        if (change.version >> 16 == 0) throw Malformed("a setting was never changed");
        checked(NodeId(change.version & 0xffff), shape);
        message.news.changes.push_back(change);
    }
    reader.require_end();
    return message;
}

} // namespace ps
