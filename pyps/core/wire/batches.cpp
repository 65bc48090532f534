#include "batches.h"

namespace ps {

namespace {

enum Flag : uint16_t {
    from_home_flag = OperationHead::from_home,
    whole_flag = OperationHead::whole,
    last_flag = 4,
    value_flag = 8,
    lost_flag = 16,
    forwarded_flag = 32
};

FrameHeader head(FrameHeader header, Kind kind, uint64_t count) {
    header.kind = kind;
    header.count = uint32_t(count);
    return header;
}

NodeId get_node(FrameReader &reader, const Shape &shape) {
    NodeId node = reader.get<NodeId>();
    if (node >= shape.num_nodes())
        throw Malformed("it names node " + std::to_string(node) + " of " + std::to_string(shape.num_nodes()));
    return node;
}

uint16_t get_flags(FrameReader &reader, uint16_t allowed) {
    uint16_t flags = reader.get<uint16_t>();
    if (flags & ~allowed) throw Malformed("it has unknown flags: " + std::to_string(flags));
    return flags;
}

Operation get_operation(FrameReader &reader) {
    uint16_t operation = reader.get<uint16_t>();
    if (operation > uint16_t(Operation::localize))
        throw Malformed("operation " + std::to_string(operation) + " is unknown");
    return Operation(operation);
}

void get_keys(FrameReader &reader, uint32_t count, const Shape &shape, std::vector<Key> *keys) {
    reader.get(keys, count);
    const uint64_t limit = shape.num_keys();
    for (Key key : *keys)
        if (key >= limit)
            throw Malformed("key " + std::to_string(key) + " is outside [0, " + std::to_string(limit) + ")");
}

// What many messages begin with: a node, who is to have the keys, say, and the keys.
void put_keys(FrameWriter &writer, NodeId node, const std::vector<Key> &keys) {
    writer.put(node);
    writer.zeros(6);
    writer.put(keys);
}

NodeId get_keys(FrameReader &reader, const FrameHeader &header, const Shape &shape, std::vector<Key> *keys) {
    NodeId node = get_node(reader, shape);
    reader.zeros(6);
    get_keys(reader, header.count, shape, keys);
    return node;
}

// The same of messages for the keys' owner, which their home may have sent on.
template <class Batch>
void put_for_owner(FrameWriter &writer, const Batch &batch) {
    writer.put(batch.node);
    writer.put(uint16_t(batch.from_home ? from_home_flag : 0));
    writer.zeros(4);
    writer.put(batch.keys);
}

template <class Batch>
void get_for_owner(FrameReader &reader, const FrameHeader &header, const Shape &shape, Batch *batch) {
    batch->node = get_node(reader, shape);
    batch->from_home = get_flags(reader, from_home_flag);
    reader.zeros(4);
    get_keys(reader, header.count, shape, &batch->keys);
}

// A replica or a ghost of a transfer.
struct Record {
    NodeId node;
    uint16_t unused;
    uint32_t number, sequence;
};
static_assert(sizeof(Record) == 12, "as in docs/wire.md");

Record get_record(FrameReader &reader, const Shape &shape) {
    Record record;
    record.node = get_node(reader, shape);
    reader.zeros(2);
    record.number = reader.get<uint32_t>();
    record.sequence = reader.get<uint32_t>();
    return record;
}

Bytes get_value(FrameReader &reader, Key key, const Shape &shape) {
    uint64_t bytes = shape.value_bytes(key);
    const char *at = reader.skip(bytes);
    return Bytes(at, at + bytes);
}

} // namespace

FrameHeader decode_header(FrameReader &reader, uint64_t cluster, const Shape &shape) {
    auto header = reader.get<FrameHeader>();
    if (header.magic != wire_magic) throw Malformed("it does not begin like a message of this protocol");
    if (header.version != wire_version)
        throw Malformed("it has version " + std::to_string(header.version) + " of the protocol, this node has " +
                        std::to_string(wire_version));
    if (header.kind < Kind::hello || header.kind > last_kind)
        throw Malformed("its kind, " + std::to_string(int(header.kind)) + ", is unknown");
    if (header.cluster != cluster) throw Malformed("it is meant for another cluster");
    if (is_about_keys(header.kind) && header.count == 0) throw Malformed("it is about no key");
    if (header.from >= shape.num_nodes())
        throw Malformed("it comes from node " + std::to_string(header.from) + " of " +
                        std::to_string(shape.num_nodes()));
    return header;
}

OperationHead RequestBatch::head(FrameHeader header, uint64_t count, bool whole) const {
    auto flags = uint16_t((from_home ? from_home_flag : 0) | (whole ? whole_flag : 0));
    return {ps::head(header, kind, count), number, worker, node, flags, uint16_t(operation), {}};
}

Bytes RequestBatch::encode(FrameHeader header) const {
    FrameWriter writer;
    writer.put(head(header, keys.size(), positions.empty()));
    writer.put(keys);
    writer.put(positions);
    writer.put(values);
    return writer.take();
}

RequestBatch RequestBatch::decode(const FrameHeader &header, FrameReader &reader, const Shape &shape, Span *values) {
    RequestBatch batch;
    batch.number = reader.get<uint64_t>();
    batch.worker = reader.get<uint32_t>();
    batch.node = get_node(reader, shape);
    uint16_t flags = get_flags(reader, from_home_flag | whole_flag);
    batch.from_home = flags & from_home_flag;
    batch.operation = get_operation(reader);
    reader.zeros(6);
    get_keys(reader, header.count, shape, &batch.keys);
    if (!(flags & whole_flag)) reader.get(&batch.positions, header.count);
    bool has_values = batch.operation == Operation::push || batch.operation == Operation::set;
    values->bytes = has_values ? shape.total_bytes(batch.keys) : 0;
    values->at = reader.skip(values->bytes);
    reader.finish();
    return batch;
}

OperationHead AnswerBatch::head(FrameHeader header) const {
    bool lost = lost_with != no_node;
    auto flags = uint16_t((whole ? whole_flag : 0) | (lost ? lost_flag : 0) | (forwarded ? forwarded_flag : 0));
    OperationHead head{ps::head(header, kind, count), number, worker, node, flags, uint16_t(operation), {}};
    if (lost) std::memcpy(head.unused, &lost_with, sizeof lost_with);
    return head;
}

Bytes AnswerBatch::encode(FrameHeader header) const {
    FrameWriter writer;
    writer.put(head(header));
    writer.put(positions);
    writer.put(values);
    return writer.take();
}

AnswerBatch AnswerBatch::decode(const FrameHeader &header, FrameReader &reader, const Shape &shape, Span *values) {
    AnswerBatch batch;
    batch.count = header.count;
    batch.number = reader.get<uint64_t>();
    batch.worker = reader.get<uint32_t>();
    batch.node = get_node(reader, shape);
    uint16_t flags = get_flags(reader, whole_flag | lost_flag | forwarded_flag);
    batch.whole = flags & whole_flag;
    batch.forwarded = flags & forwarded_flag;
    batch.operation = get_operation(reader);
    if (flags & lost_flag) batch.lost_with = get_node(reader, shape);
    reader.zeros(flags & lost_flag ? 4 : 6);
    if (!batch.whole) reader.get(&batch.positions, header.count);
    values->bytes = reader.left();
    values->at = reader.skip(values->bytes);
    bool has_values = batch.operation == Operation::pull && batch.lost_with == no_node;
    if (!has_values && values->bytes) throw Malformed("an answer to what is no pull has values");
    return batch;
}

Bytes LocalizeBatch::encode(FrameHeader header) const {
    FrameWriter writer(head(header, kind, keys.size()));
    put_keys(writer, to, keys);
    return writer.take();
}

LocalizeBatch LocalizeBatch::decode(const FrameHeader &header, FrameReader &reader, const Shape &shape) {
    LocalizeBatch batch;
    batch.to = get_keys(reader, header, shape, &batch.keys);
    reader.finish();
    return batch;
}

Bytes RelocateBatch::encode(FrameHeader header) const {
    FrameWriter writer(head(header, kind, keys.size()));
    put_keys(writer, to, keys);
    return writer.take();
}

RelocateBatch RelocateBatch::decode(const FrameHeader &header, FrameReader &reader, const Shape &shape) {
    RelocateBatch batch;
    batch.to = get_keys(reader, header, shape, &batch.keys);
    reader.finish();
    return batch;
}

// Per key: version, numbers of replicas and ghosts, those, the value.
Bytes TransferBatch::encode(FrameHeader header) const {
    FrameWriter writer(head(header, kind, keys.size()));
    writer.put(keys);
    for (const Transfer &transfer : transfers) {
        writer.put(transfer.version);
        writer.put(uint32_t(transfer.replicas.size()));
        writer.put(uint32_t(transfer.ghosts.size()));
        for (const Replica &replica : transfer.replicas)
            writer.put(Record{replica.node, 0, replica.number, replica.applied});
        for (const Ghost &ghost : transfer.ghosts) writer.put(Record{ghost.node, 0, ghost.number, ghost.sequence});
        writer.put(transfer.value);
    }
    return writer.take();
}

TransferBatch TransferBatch::decode(const FrameHeader &header, FrameReader &reader, const Shape &shape) {
    TransferBatch batch;
    get_keys(reader, header.count, shape, &batch.keys);
    for (Key key : batch.keys) {
        Transfer transfer{};
        transfer.version = reader.get<uint64_t>();
        auto num_replicas = reader.get<uint32_t>(), num_ghosts = reader.get<uint32_t>();
        for (uint32_t i = 0; i < num_replicas; i++) {
            Record known = get_record(reader, shape);
            transfer.replicas.push_back(Replica{known.node, known.number, known.sequence, false});
        }
        for (uint32_t i = 0; i < num_ghosts; i++) {
            Record known = get_record(reader, shape);
            transfer.ghosts.push_back(Ghost{known.node, known.number, known.sequence});
        }
        transfer.value = get_value(reader, key, shape);
        batch.transfers.push_back(std::move(transfer));
    }
    reader.finish();
    return batch;
}

Bytes MovesBatch::encode(FrameHeader header) const {
    FrameWriter writer(head(header, kind, keys.size()));
    writer.expect(keys.size() * sizeof(Key) + values.size());
    writer.put(keys);
    writer.put(values);
    return writer.take();
}

MovesBatch MovesBatch::decode(const FrameHeader &header, FrameReader &reader, const Shape &shape, Span *values) {
    MovesBatch batch;
    get_keys(reader, header.count, shape, &batch.keys);
    values->bytes = shape.total_bytes(batch.keys);
    values->at = reader.skip(values->bytes);
    reader.finish();
    return batch;
}

Bytes WantBatch::encode(FrameHeader header) const {
    FrameWriter writer(head(header, kind, keys.size()));
    put_for_owner(writer, *this);
    writer.put(numbers);
    return writer.take();
}

WantBatch WantBatch::decode(const FrameHeader &header, FrameReader &reader, const Shape &shape) {
    WantBatch batch;
    get_for_owner(reader, header, shape, &batch);
    reader.get(&batch.numbers, header.count);
    reader.finish();
    return batch;
}

// Per key: number, sequence, flags, the value if there is one.
Bytes DeltaBatch::encode(FrameHeader header) const {
    FrameWriter writer(head(header, kind, keys.size()));
    put_for_owner(writer, *this);
    for (const Delta &delta : deltas) {
        writer.put(delta.number);
        writer.put(delta.sequence);
        writer.put(uint16_t((delta.last ? last_flag : 0) | (delta.value.empty() ? 0 : value_flag)));
        writer.put(delta.value);
    }
    return writer.take();
}

DeltaBatch DeltaBatch::decode(const FrameHeader &header, FrameReader &reader, const Shape &shape) {
    DeltaBatch batch;
    get_for_owner(reader, header, shape, &batch);
    for (Key key : batch.keys) {
        Delta delta{};
        delta.node = batch.node;
        delta.number = reader.get<uint32_t>();
        delta.sequence = reader.get<uint32_t>();
        uint16_t flags = get_flags(reader, last_flag | value_flag);
        delta.last = flags & last_flag;
        if (flags & value_flag) delta.value = get_value(reader, key, shape);
        batch.deltas.push_back(std::move(delta));
    }
    reader.finish();
    return batch;
}

// Per key: number, applied, version, the value.
Bytes RefreshBatch::encode(FrameHeader header) const {
    FrameWriter writer(head(header, kind, keys.size()));
    put_keys(writer, owner, keys);
    for (const Refresh &refresh : refreshes) {
        writer.put(refresh.number);
        writer.put(refresh.applied);
        writer.put(refresh.version);
        writer.put(refresh.value);
    }
    return writer.take();
}

RefreshBatch RefreshBatch::decode(const FrameHeader &header, FrameReader &reader, const Shape &shape) {
    RefreshBatch batch;
    batch.owner = get_keys(reader, header, shape, &batch.keys);
    for (Key key : batch.keys) {
        Refresh refresh{};
        refresh.owner = batch.owner;
        refresh.number = reader.get<uint32_t>();
        refresh.applied = reader.get<uint32_t>();
        refresh.version = reader.get<uint64_t>();
        refresh.value = get_value(reader, key, shape);
        batch.refreshes.push_back(std::move(refresh));
    }
    reader.finish();
    return batch;
}

Bytes IntentBatch::encode(FrameHeader header) const {
    FrameWriter writer(head(header, kind, keys.size()));
    writer.put(worker);
    writer.zeros(4);
    writer.put(start);
    writer.put(end);
    writer.put(keys);
    return writer.take();
}

IntentBatch IntentBatch::decode(const FrameHeader &header, FrameReader &reader, const Shape &shape) {
    IntentBatch batch;
    batch.worker = reader.get<uint32_t>();
    reader.zeros(4);
    batch.start = reader.get<int64_t>();
    batch.end = reader.get<int64_t>();
    if (batch.start < 0 || batch.end <= batch.start)
        throw Malformed("its clocks are no interval: [" + std::to_string(batch.start) + ", " +
                        std::to_string(batch.end) + ")");
    get_keys(reader, header.count, shape, &batch.keys);
    reader.finish();
    return batch;
}

Bytes EndedBatch::encode(FrameHeader header) const {
    FrameWriter writer(head(header, kind, keys.size()));
    writer.put(keys);
    writer.put(numbers);
    return writer.take();
}

EndedBatch EndedBatch::decode(const FrameHeader &header, FrameReader &reader, const Shape &shape) {
    EndedBatch batch;
    get_keys(reader, header.count, shape, &batch.keys);
    reader.get(&batch.numbers, header.count);
    reader.finish();
    return batch;
}

Bytes HoldsBatch::encode(FrameHeader header) const {
    FrameWriter writer(head(header, kind, keys.size()));
    writer.put(uint16_t(phase));
    writer.put(node);
    writer.put(uint16_t(lost ? lost_flag : 0));
    writer.zeros(2);
    writer.put(keys);
    return writer.take();
}

HoldsBatch HoldsBatch::decode(const FrameHeader &header, FrameReader &reader, const Shape &shape) {
    HoldsBatch batch;
    auto phase = reader.get<uint16_t>();
    if (phase > uint16_t(Phase::done)) throw Malformed("phase " + std::to_string(phase) + " is unknown");
    batch.phase = Phase(phase);
    batch.node = get_node(reader, shape);
    batch.lost = get_flags(reader, lost_flag);
    reader.zeros(2);
    if ((batch.phase == Phase::report) != (header.count > 0)) throw Malformed("only a report is about keys");
    if (!batch.lost && batch.node != header.from) throw Malformed("it reports for another node");
    get_keys(reader, header.count, shape, &batch.keys);
    reader.finish();
    return batch;
}

Bytes GoneBatch::encode(FrameHeader header) const {
    FrameWriter writer(head(header, kind, keys.size()));
    put_keys(writer, with, keys);
    return writer.take();
}

GoneBatch GoneBatch::decode(const FrameHeader &header, FrameReader &reader, const Shape &shape) {
    GoneBatch batch;
    batch.with = get_keys(reader, header, shape, &batch.keys);
    reader.finish();
    return batch;
}

} // namespace ps
