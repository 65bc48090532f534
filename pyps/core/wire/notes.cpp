#include "wire/notes.h"

#include "wire/parts.h"

namespace ps {

namespace {

void require_no_count(const FrameHeader &header) {
    if (header.count) throw Malformed("it counts what it does not have");
}

} // namespace

Bytes encode(const Alive &message, FrameHeader header) {
    FrameWriter writer(head(header, Kind::alive, message.missing.size()));
    writer.put(message.missing);
    return writer.take();
}

Alive decode_alive(const FrameHeader &header, FrameReader &reader, const Shape &shape) {
    Alive message;
    reader.get(&message.missing, header.count);
    for (NodeId node : message.missing) checked(node, shape);
    reader.require_end();
    return message;
}

Bytes encode(const Lost &message, FrameHeader header) {
    FrameWriter writer(head(header, Kind::lost));
    writer.put(message.node);
    writer.put(uint16_t(message.evidence));
    writer.zeros(4);
    return writer.take();
}

Lost decode_lost(const FrameHeader &header, FrameReader &reader, const Shape &shape) {
    require_no_count(header);
    Lost message{};
    message.node = get_node(reader, shape);
    auto evidence = reader.get<uint16_t>();
    if (evidence > uint16_t(last_evidence)) throw Malformed("evidence " + std::to_string(evidence) + " is unknown");
    message.evidence = Evidence(evidence);
    reader.zeros(4);
    reader.require_end();
    return message;
}

Bytes encode(const Vote &message, FrameHeader header) {
    FrameWriter writer(head(header, Kind::epoch, message.members.size()));
    writer.put(uint16_t(message.phase));
    writer.put(message.ballot.proposer);
    writer.put(message.epoch);
    writer.put(message.ballot.round);
    writer.put(message.before.round);
    writer.put(message.before.proposer);
    writer.zeros(6);
    writer.put(message.members);
    return writer.take();
}

Vote decode_vote(const FrameHeader &header, FrameReader &reader, const Shape &shape) {
    Vote message{};
    auto phase = reader.get<uint16_t>();
    if (phase > uint16_t(Vote::Phase::decided)) throw Malformed("phase " + std::to_string(phase) + " is unknown");
    message.phase = Vote::Phase(phase);
    message.ballot.proposer = get_node(reader, shape);
    message.epoch = reader.get<uint32_t>();
    message.ballot.round = reader.get<uint32_t>();
    message.before.round = reader.get<uint32_t>();
    message.before.proposer = get_node(reader, shape);
    reader.zeros(6);
    reader.get(&message.members, header.count);
    reader.require_end();
    for (size_t i = 0; i < message.members.size(); i++) {
        checked(message.members[i], shape);
        if (i > 0 && message.members[i] <= message.members[i - 1]) throw Malformed("its members are not in order");
    }
    return message;
}

} // namespace ps
