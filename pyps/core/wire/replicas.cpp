#include "wire/replicas.h"

#include "wire/packed.h"
#include "wire/parts.h"

namespace ps {

namespace {

// The beginning of messages for the keys' owner, which come from the node itself or through the keys' home.
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
    get_keys(reader, header, shape, &batch->keys);
}

uint64_t bytes_of(const RefreshBatch &batch) {
    constexpr uint64_t around_value = sizeof(Key) + 20, around_keys = 8;
    uint64_t bytes = around_keys + batch.keys.size() * around_value;
    for (const Refresh &refresh : batch.refreshes) bytes += refresh.value.size();
    return bytes;
}

} // namespace

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
    reader.require_end();
    return batch;
}

// Per key: number, sequence, flags, the value if there is one.
Bytes DeltaBatch::encode(FrameHeader header) const {
    FrameWriter writer(head(header, kind, keys.size()));
    put_for_owner(writer, *this);
    for (const Delta &delta : deltas) {
        writer.put(delta.number);
        writer.put(delta.sequence);
        const bool is_packed = delta.is_part && packing.shortens(delta.value.size());
        writer.put(uint16_t((delta.last ? last_flag : 0) | (delta.value.empty() ? 0 : value_flag) |
                            (is_packed ? part_flag : 0)));
        is_packed ? put_packed(writer, packing, delta.value) : writer.put(delta.value);
    }
    return writer.take();
}

DeltaBatch DeltaBatch::decode(const FrameHeader &header, FrameReader &reader, const Shape &shape) {
    DeltaBatch batch;
    batch.packing = shape.packing();
    get_for_owner(reader, header, shape, &batch);
    for (Key key : batch.keys) {
        Delta delta{};
        delta.node = batch.node;
        delta.number = reader.get<uint32_t>();
        delta.sequence = reader.get<uint64_t>();
        const uint64_t bytes = shape.value_bytes(key);
        uint16_t flags = get_flags(reader, last_flag | value_flag | part_flag);
        delta.last = flags & last_flag;
        delta.is_part = flags & part_flag;
        if (delta.is_part && (delta.last || !(flags & value_flag) || !batch.packing.shortens(bytes)))
            throw Malformed("it has a compressed delta where there is none");
        if (delta.is_part)
            delta.value = get_packed(reader, batch.packing, bytes);
        else if (flags & value_flag)
            delta.value = get_bytes(reader, bytes);
        batch.deltas.push_back(std::move(delta));
    }
    reader.require_end();
    return batch;
}

// Per key: number, applied, version, the value.
Bytes RefreshBatch::encode(FrameHeader header) const {
    FrameWriter writer(head(header, kind, keys.size()));
    writer.expect(bytes_of(*this));
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
    batch.owner = get_node_and_keys(reader, header, shape, &batch.keys);
    for (Key key : batch.keys) {
        Refresh refresh{};
        refresh.owner = batch.owner;
        refresh.number = reader.get<uint32_t>();
        refresh.applied = reader.get<uint64_t>();
        refresh.version = reader.get<uint64_t>();
        refresh.value = get_bytes(reader, shape.value_bytes(key));
        batch.refreshes.push_back(std::move(refresh));
    }
    reader.require_end();
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
    get_keys(reader, header, shape, &batch.keys);
    reader.require_end();
    return batch;
}

} // namespace ps
