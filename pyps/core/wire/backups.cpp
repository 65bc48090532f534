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

Bytes NewsMessage::encode(FrameHeader header) const {
    FrameWriter writer(head(header, Kind::news));
    writer.put(uint16_t(news));
    writer.zeros(6);
    return writer.take();
}

NewsMessage NewsMessage::decode(const FrameHeader &header, FrameReader &reader) {
    require_no_keys(header);
    auto news = reader.get<uint16_t>();
    if (news > uint16_t(News::secure)) throw Malformed("news " + std::to_string(news) + " is unknown");
    reader.zeros(6);
    reader.require_end();
    return {News(news)};
}

} // namespace ps
