#include "wire/operations.h"

#include "wire/parts.h"

namespace ps {

namespace {

Operation get_operation(FrameReader &reader) {
    uint16_t operation = reader.get<uint16_t>();
    if (operation > uint16_t(last_operation)) throw Malformed("operation " + std::to_string(operation) + " is unknown");
    return Operation(operation);
}

} // namespace

OperationHead RequestBatch::head(FrameHeader header, uint64_t count, bool whole) const {
    auto flags = uint16_t((from_home ? from_home_flag : 0) | (whole ? whole_flag : 0));
    return {ps::head(header, kind, count), number, worker, node, flags, uint16_t(operation), 0, behind};
}

Bytes RequestBatch::encode(FrameHeader header) const {
    FrameWriter writer;
    writer.put(head(header, keys.size(), positions.empty()));
    writer.put(keys);
    writer.put(positions);
    writer.put(values);
    return writer.take();
}

RequestBatch RequestBatch::decode(const FrameHeader &header, FrameReader &reader, const Shape &shape,
                                  ValueBytes *values) {
    RequestBatch batch;
    batch.number = reader.get<uint64_t>();
    batch.worker = reader.get<uint32_t>();
    batch.node = get_node(reader, shape);
    uint16_t flags = get_flags(reader, from_home_flag | whole_flag);
    batch.from_home = flags & from_home_flag;
    batch.operation = get_operation(reader);
    reader.zeros(2);
    batch.behind = reader.get<uint32_t>();
    if (header.channel == any_channel && (goes_by_channel(batch.operation) || batch.from_home))
        throw Malformed("it is for no channel in particular, and is no pull, push or localize, or comes from a home");
    get_keys(reader, header, shape, &batch.keys);
    if (!(flags & whole_flag)) reader.get(&batch.positions, header.count);
    bool has_values = batch.operation == Operation::push || batch.operation == Operation::set;
    values->bytes = has_values ? shape.total_bytes(batch.keys) : 0;
    values->at = reader.skip(values->bytes);
    reader.require_end();
    return batch;
}

AnswerBatch AnswerBatch::to(const RequestBatch &request) {
    AnswerBatch answer;
    answer.operation = request.operation;
    answer.whole = request.positions.empty();
    answer.node = request.node;
    answer.worker = request.worker;
    answer.number = request.number;
    answer.count = uint32_t(request.keys.size());
    return answer;
}

OperationHead AnswerBatch::head(FrameHeader header) const {
    bool lost = lost_with != no_node;
    auto flags = uint16_t((whole ? whole_flag : 0) | (lost ? lost_flag : 0) | (forwarded ? forwarded_flag : 0) |
                          (refused ? refused_flag : 0));
    OperationHead head{ps::head(header, kind, count), number, worker, node, flags, uint16_t(operation), 0, 0};
    if (lost) head.lost_with = lost_with;
    return head;
}

Bytes AnswerBatch::encode(FrameHeader header) const {
    FrameWriter writer;
    writer.expect(sizeof(OperationHead) + positions.size() * sizeof(uint32_t) + values.size());
    writer.put(head(header));
    writer.put(positions);
    writer.put(values);
    return writer.take();
}

AnswerBatch AnswerBatch::decode(const FrameHeader &header, FrameReader &reader, const Shape &shape,
                                ValueBytes *values) {
    AnswerBatch batch;
    batch.count = header.count;
    batch.number = reader.get<uint64_t>();
    batch.worker = reader.get<uint32_t>();
    batch.node = get_node(reader, shape);
    uint16_t flags = get_flags(reader, whole_flag | lost_flag | forwarded_flag | refused_flag);
    batch.whole = flags & whole_flag;
    batch.forwarded = flags & forwarded_flag;
    batch.refused = flags & refused_flag;
    batch.operation = get_operation(reader);
    if (flags & lost_flag) batch.lost_with = get_node(reader, shape);
    reader.zeros(flags & lost_flag ? 4 : 6);
    if (!batch.whole) reader.get(&batch.positions, header.count);
    values->bytes = reader.left();
    values->at = reader.skip(values->bytes);
    if (batch.refused && batch.lost_with != no_node) throw Malformed("what is refused is not lost as well");
    bool has_values = has_answer(batch.operation) && batch.has_values();
    if (!has_values && values->bytes) throw Malformed("an answer to what asks for no values has some");
    return batch;
}

} // namespace ps
