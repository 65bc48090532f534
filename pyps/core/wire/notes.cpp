#include "wire/notes.h"

#include "wire/batches.h"

namespace ps {

namespace {

FrameHeader head(FrameHeader header, Kind kind, uint64_t count) {
    header.kind = kind;
    header.count = uint32_t(count);
    return header;
}

NodeId checked(NodeId node, const Shape &shape) {
    if (node >= shape.num_nodes())
        throw Malformed("it names node " + std::to_string(node) + " of " + std::to_string(shape.num_nodes()));
    return node;
}

void require_no_count(const FrameHeader &header) {
    if (header.count) throw Malformed("it counts what it does not have");
}

} // namespace

Bytes encode(const Alive &message, FrameHeader header) {
    FrameWriter writer(head(header, Kind::alive, message.lost.size()));
    writer.put(message.lost);
    return writer.take();
}

Alive decode_alive(const FrameHeader &header, FrameReader &reader, const Shape &shape) {
    Alive message;
    reader.get(&message.lost, header.count);
    for (NodeId node : message.lost) checked(node, shape);
    reader.finish();
    return message;
}

Bytes encode(const Lost &message, FrameHeader header) {
    FrameWriter writer(head(header, Kind::lost, 0));
    writer.put(message.node);
    writer.put(uint16_t(message.evidence));
    writer.zeros(4);
    return writer.take();
}

Lost decode_lost(const FrameHeader &header, FrameReader &reader, const Shape &shape) {
    require_no_count(header);
    Lost message{};
    message.node = checked(reader.get<NodeId>(), shape);
    auto evidence = reader.get<uint16_t>();
    if (evidence > uint16_t(Evidence::failed)) throw Malformed("evidence " + std::to_string(evidence) + " is unknown");
    message.evidence = Evidence(evidence);
    reader.zeros(4);
    reader.finish();
    return message;
}

} // namespace ps
