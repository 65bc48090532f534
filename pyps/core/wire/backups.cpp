#include "wire/backups.h"

#include "wire/parts.h"

namespace ps {

// Per key: version, flags, 2 unused, number of writes, the writes; the whole, if the key is not to be erased.
Bytes BackupBatch::encode(FrameHeader header) const {
    FrameWriter writer(head(header, kind, keys.size()));
    writer.put(keys);
    for (const Backup &backup : backups) {
        writer.put(backup.version);
        writer.put(uint16_t(backup.erases ? last_flag : 0));
        writer.zeros(2);
        put_origins(writer, backup.written);
        writer.put(backup.whole);
    }
    return writer.take();
}

BackupBatch BackupBatch::decode(const FrameHeader &header, FrameReader &reader, const Shape &shape) {
    BackupBatch batch;
    get_keys(reader, header, shape, &batch.keys);
    for (Key key : batch.keys) {
        Backup backup{header.from, reader.get<uint64_t>(), {}, {}};
        backup.erases = get_flags(reader, last_flag);
        reader.zeros(2);
        backup.written = get_origins(reader, shape);
        if (!backup.erases) backup.whole = get_bytes(reader, shape.whole_bytes(key));
        batch.backups.push_back(std::move(backup));
    }
    reader.require_end();
    return batch;
}

namespace {

struct RunHead {
    uint64_t version, operation;
    uint32_t worker, behind;
    NodeId node;
    uint16_t unused[3];
};
static_assert(sizeof(RunHead) == 32, "as in docs/wire.md");

} // namespace

Bytes BackupRunMessage::encode(const BackupRun &run, FrameHeader header) {
    const Origin &origin = run.origin;
    FrameWriter writer;
    const uint64_t columns = run.keys.size() * (sizeof(Key) + sizeof(uint32_t));
    writer.expect(sizeof(FrameHeader) + sizeof(RunHead) + columns + run.wholes.size());
    writer.put(head(header, kind, run.keys.size()));
    writer.put(RunHead{run.version, origin.operation, origin.worker, origin.behind, origin.node, {}});
    writer.put(run.keys);
    writer.put(run.positions);
    writer.put(run.wholes);
    return writer.take();
}

BackupRun BackupRunMessage::decode(const FrameHeader &header, FrameReader &reader, const Shape &shape) {
    const auto start = reader.get<RunHead>();
    if (start.unused[0] || start.unused[1] || start.unused[2]) throw Malformed("bytes that are not used are not zero");
    BackupRun run{header.from, start.version, {}, {}, {}, {}};
    run.origin = {checked(start.node, shape), start.worker, 0, start.operation, start.behind};
    get_keys(reader, header, shape, &run.keys);
    reader.get(&run.positions, header.count);
    run.wholes = get_bytes(reader, shape.total_whole_bytes(run.keys));
    reader.require_end();
    return run;
}

Bytes BackedRunMessage::encode(const BackedRun &run, FrameHeader header) {
    FrameWriter writer(head(header, Kind::backed_run));
    writer.put(run.version);
    return writer.take();
}

BackedRun BackedRunMessage::decode(const FrameHeader &header, FrameReader &reader) {
    require_no_keys(header);
    const BackedRun run{header.from, reader.get<uint64_t>()};
    reader.require_end();
    return run;
}

// Per key: number of nodes, the nodes.
Bytes TakeOverBatch::encode(FrameHeader header) const {
    FrameWriter writer(head(header, kind, keys.size()));
    writer.put(keys);
    for (const TakeOver &order : orders) put_nodes(writer, order.keepers);
    return writer.take();
}

TakeOverBatch TakeOverBatch::decode(const FrameHeader &header, FrameReader &reader, const Shape &shape) {
    TakeOverBatch batch;
    get_keys(reader, header, shape, &batch.keys);
    for (size_t i = 0; i < batch.keys.size(); i++) batch.orders.push_back({get_nodes(reader, shape)});
    reader.require_end();
    return batch;
}

// What is heard, the node that it is about or 65535, 4 unused.
Bytes NewsMessage::encode(FrameHeader header) const {
    FrameWriter writer(head(header, kind));
    writer.put(uint16_t(news.what));
    writer.put(news.about);
    writer.zeros(4);
    return writer.take();
}

NewsMessage NewsMessage::decode(const FrameHeader &header, FrameReader &reader, const Shape &shape) {
    require_no_keys(header);
    const auto what = reader.get<uint16_t>();
    if (what > uint16_t(News::What::full)) throw Malformed("news " + std::to_string(what) + " is unknown");
    const News news{News::What(what), reader.get<NodeId>()};
    if (news.what == News::What::avoids)
        checked(news.about, shape);
    else if (news.about != no_node)
        throw Malformed("news " + std::to_string(what) + " is about no node");
    reader.zeros(4);
    reader.require_end();
    return {news};
}

} // namespace ps
