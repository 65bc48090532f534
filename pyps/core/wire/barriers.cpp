#include "barriers.h"

#include "wire/parts.h"

namespace ps {

namespace {

template <class Choice>
Choice get_choice(FrameReader &reader, uint16_t last, const char *what) {
    auto number = reader.get<uint16_t>();
    if (number > last) throw Malformed(std::string(what) + " " + std::to_string(number) + " is unknown");
    return Choice(number);
}

} // namespace

std::vector<char> AttendMessage::encode(FrameHeader header) const {
    FrameWriter writer(head(header, kind));
    writer.put(barrier);
    writer.put(attend.attendance);
    writer.put(attend.serial);
    writer.put(attend.round);
    return writer.take();
}

AttendMessage AttendMessage::decode(const FrameHeader &header, FrameReader &reader) {
    require_no_keys(header);
    AttendMessage message;
    message.barrier = get_choice<Barriers>(reader, num_barriers - 1, "barrier");
    message.attend.attendance = get_choice<Attendance>(reader, uint16_t(Attendance::empty), "attendance");
    message.attend.serial = reader.get<uint32_t>();
    message.attend.round = reader.get<uint64_t>();
    if (message.attend.round == 0) throw Malformed("rounds of a barrier begin with 1");
    reader.require_end();
    return message;
}

std::vector<char> OpenedMessage::encode(FrameHeader header) const {
    FrameWriter writer(head(header, kind));
    writer.put(barrier);
    writer.put(uint16_t(opened.is_called));
    writer.put(opened.serial);
    writer.put(opened.rounds);
    return writer.take();
}

OpenedMessage OpenedMessage::decode(const FrameHeader &header, FrameReader &reader) {
    require_no_keys(header);
    OpenedMessage message;
    message.barrier = get_choice<Barriers>(reader, num_barriers - 1, "barrier");
    message.opened.is_called = get_choice<uint16_t>(reader, 1, "flag");
    message.opened.serial = reader.get<uint32_t>();
    message.opened.rounds = reader.get<uint64_t>();
    reader.require_end();
    return message;
}

std::vector<char> SettleMessage::encode(FrameHeader header) const {
    FrameWriter writer(head(header, kind));
    writer.put(until);
    writer.zeros(6);
    writer.put(number);
    return writer.take();
}

SettleMessage SettleMessage::decode(const FrameHeader &header, FrameReader &reader) {
    require_no_keys(header);
    SettleMessage message;
    message.until = get_choice<Until>(reader, uint16_t(Until::told), "what to wait for,");
    reader.zeros(6);
    message.number = reader.get<uint64_t>();
    reader.require_end();
    return message;
}

std::vector<char> RoundMessage::encode(FrameHeader header) const {
    FrameWriter writer(head(header, kind));
    writer.put(number);
    return writer.take();
}

RoundMessage RoundMessage::decode(const FrameHeader &header, FrameReader &reader) {
    require_no_keys(header);
    RoundMessage message{header.kind, reader.get<uint64_t>()};
    reader.require_end();
    return message;
}

} // namespace ps
