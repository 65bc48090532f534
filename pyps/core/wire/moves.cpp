#include "wire/moves.h"

#include "wire/parts.h"

namespace ps {

namespace {

// A replica or a ghost of a transfer.
struct Record {
    NodeId node;
    uint16_t unused;
    uint32_t number;
    uint64_t sequence;
};
static_assert(sizeof(Record) == 16, "as in docs/wire.md");

Record get_record(FrameReader &reader, const Shape &shape) {
    Record record;
    record.node = get_node(reader, shape);
    reader.zeros(2);
    record.number = reader.get<uint32_t>();
    record.sequence = reader.get<uint64_t>();
    return record;
}

} // namespace

template <Kind of>
Bytes KeysBatch<of>::encode(FrameHeader header) const {
    FrameWriter writer(head(header, kind, keys.size()));
    put_keys(writer, node, keys);
    return writer.take();
}

template <Kind of>
KeysBatch<of> KeysBatch<of>::decode(const FrameHeader &header, FrameReader &reader, const Shape &shape) {
    KeysBatch batch;
    batch.node = get_node_and_keys(reader, header, shape, &batch.keys);
    reader.require_end();
    return batch;
}

template struct KeysBatch<Kind::localize>;
template struct KeysBatch<Kind::relocate>;
template struct KeysBatch<Kind::gone>;
template struct KeysBatch<Kind::offer>;

// Per key: version, number of replicas, number of ghosts, replicas, ghosts, version of the backups, their keepers, the
// writes, value.
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
        writer.put(transfer.backup);
        put_nodes(writer, transfer.keepers);
        put_origins(writer, transfer.written);
        writer.put(transfer.value);
    }
    return writer.take();
}

TransferBatch TransferBatch::decode(const FrameHeader &header, FrameReader &reader, const Shape &shape) {
    TransferBatch batch;
    get_keys(reader, header, shape, &batch.keys);
    for (Key key : batch.keys) {
        Transfer transfer{};
        transfer.version = reader.get<uint64_t>();
        auto num_replicas = reader.get<uint32_t>(), num_ghosts = reader.get<uint32_t>();
        for (uint32_t i = 0; i < num_replicas; i++) {
            Record known = get_record(reader, shape);
            transfer.replicas.push_back(Replica{known.node, known.number, known.sequence});
        }
        for (uint32_t i = 0; i < num_ghosts; i++) {
            Record known = get_record(reader, shape);
            transfer.ghosts.push_back(Ghost{known.node, known.number, known.sequence});
        }
        transfer.backup = reader.get<uint64_t>();
        transfer.keepers = get_nodes(reader, shape);
        transfer.written = get_origins(reader, shape);
        transfer.value = get_bytes(reader, shape.whole_bytes(key));
        batch.transfers.push_back(std::move(transfer));
    }
    reader.require_end();
    return batch;
}

Bytes MovesBatch::encode(FrameHeader header) const {
    FrameWriter writer(head(header, kind, keys.size()));
    writer.expect(keys.size() * sizeof(Key) + values.size());
    writer.put(keys);
    writer.put(values);
    return writer.take();
}

MovesBatch MovesBatch::decode(const FrameHeader &header, FrameReader &reader, const Shape &shape, ValueBytes *values) {
    MovesBatch batch;
    get_keys(reader, header, shape, &batch.keys);
    values->bytes = shape.total_whole_bytes(batch.keys);
    values->at = reader.skip(values->bytes);
    reader.require_end();
    return batch;
}

Bytes HoldsBatch::encode(FrameHeader header) const {
    FrameWriter writer(head(header, kind, keys.size()));
    writer.put(uint16_t(phase));
    writer.put(node);
    writer.put(uint16_t((lost ? lost_flag : 0) | (versions.empty() ? 0 : backup_flag)));
    writer.zeros(2);
    writer.put(keys);
    writer.put(versions);
    return writer.take();
}

HoldsBatch HoldsBatch::decode(const FrameHeader &header, FrameReader &reader, const Shape &shape) {
    HoldsBatch batch;
    auto phase = reader.get<uint16_t>();
    if (phase > uint16_t(Phase::done)) throw Malformed("phase " + std::to_string(phase) + " is unknown");
    batch.phase = Phase(phase);
    batch.node = get_node(reader, shape);
    const uint16_t flags = get_flags(reader, lost_flag | backup_flag);
    batch.lost = flags & lost_flag;
    const bool is_of_backups = flags & backup_flag;
    reader.zeros(2);
    if (is_of_backups && (batch.lost || header.count == 0)) throw Malformed("it reports backups of no keys");
    if ((batch.phase == Phase::report) != (header.count > 0)) throw Malformed("only a report is about keys");
    if (!batch.lost && batch.node != header.from) throw Malformed("it reports for another node");
    get_keys(reader, header, shape, &batch.keys);
    if (is_of_backups) reader.get(&batch.versions, header.count);
    for (uint64_t version : batch.versions)
        if (version == 0) throw Malformed("no backup has version 0");
    reader.require_end();
    return batch;
}

} // namespace ps
