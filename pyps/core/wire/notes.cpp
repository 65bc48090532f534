#include "wire/notes.h"

#include "wire/parts.h"

namespace ps {

namespace {

constexpr size_t most_endpoint = 127; // bytes

void require_no_count(const FrameHeader &header) {
    if (header.count) throw Malformed("it counts what it does not have");
}

void get_ordered_nodes(const FrameHeader &header, FrameReader &reader, const Shape &shape, std::vector<NodeId> *nodes) {
    reader.get(nodes, header.count);
    for (size_t i = 0; i < nodes->size(); i++) {
        checked((*nodes)[i], shape);
        if (i > 0 && (*nodes)[i] <= (*nodes)[i - 1]) throw Malformed("its nodes are not in order");
    }
}

std::string get_endpoint(FrameReader &reader, uint32_t bytes) {
    if (bytes == 0) throw Malformed("it has no endpoint");
    return get_text(reader, bytes, most_endpoint, "its endpoint");
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
    get_ordered_nodes(header, reader, shape, &message.members);
    reader.require_end();
    return message;
}

Bytes encode(const JoinMessage &message, FrameHeader header) {
    FrameWriter writer(head(header, Kind::join, message.join.welcomed_by.size()));
    writer.put(uint32_t(message.endpoint.size()));
    writer.zeros(4);
    writer.put(message.join.welcomed_by);
    writer.put(message.endpoint.data(), message.endpoint.size());
    return writer.take();
}

JoinMessage decode_join(const FrameHeader &header, FrameReader &reader, const Shape &shape) {
    JoinMessage message;
    const auto bytes = reader.get<uint32_t>();
    reader.zeros(4);
    get_ordered_nodes(header, reader, shape, &message.join.welcomed_by);
    message.endpoint = get_endpoint(reader, bytes);
    reader.require_end();
    return message;
}

Bytes encode(const IntroductionMessage &message, FrameHeader header) {
    FrameWriter writer(head(header, Kind::introduction, message.introduction.members.size()));
    writer.put(message.introduction.members);
    for (const std::string &endpoint : message.endpoints) writer.put(uint16_t(endpoint.size()));
    for (const std::string &endpoint : message.endpoints) writer.put(endpoint.data(), endpoint.size());
    return writer.take();
}

IntroductionMessage decode_introduction(const FrameHeader &header, FrameReader &reader, const Shape &shape) {
    IntroductionMessage message;
    get_ordered_nodes(header, reader, shape, &message.introduction.members);
    std::vector<uint16_t> bytes;
    reader.get(&bytes, header.count);
    for (uint16_t each : bytes) message.endpoints.push_back(get_endpoint(reader, each));
    reader.require_end();
    return message;
}

} // namespace ps
