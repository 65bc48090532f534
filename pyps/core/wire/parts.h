// The parts that messages are made of, for the files that encode and decode them.
#pragma once

#include <algorithm>
#include <string>

#include "wire/frame.h"
#include "wire/shape.h"

namespace ps {

enum Flag : uint16_t {
    from_home_flag = 1,
    whole_flag = 2,
    last_flag = 4,
    value_flag = 8,
    lost_flag = 16,
    forwarded_flag = 32,
    refused_flag = 64,
    backup_flag = 128,
    part_flag = 256
};

inline FrameHeader head(FrameHeader header, Kind kind, uint64_t count = 0) {
    header.kind = kind;
    header.count = uint32_t(count);
    return header;
}

inline NodeId checked(NodeId node, const Shape &shape) {
    if (node >= shape.places())
        throw Malformed("it names node " + std::to_string(node) + " of " + std::to_string(shape.places()));
    return node;
}

inline NodeId get_node(FrameReader &reader, const Shape &shape) { return checked(reader.get<NodeId>(), shape); }

inline uint16_t get_flags(FrameReader &reader, uint16_t allowed) {
    uint16_t flags = reader.get<uint16_t>();
    if (flags & ~allowed) throw Malformed("it has unknown flags: " + std::to_string(flags));
    return flags;
}

inline void get_keys(FrameReader &reader, const FrameHeader &header, const Shape &shape, std::vector<Key> *keys) {
    reader.get(keys, header.count);
    const KeySpace space = shape.keys();
    for (Key key : *keys)
        if (!space.has(key)) throw Malformed("key " + std::to_string(key) + " is " + space.what_others_are());
    const ChannelRule rule = shape.channels();
    if (rule.channels() == 1 || header.channel == any_channel) return;
    for (Key key : *keys)
        if (rule.channel(key) != header.channel)
            throw Malformed("key " + std::to_string(key) + " is not in channel " + std::to_string(header.channel));
}

// Many messages begin with a node and keys.
inline void put_keys(FrameWriter &writer, NodeId node, const std::vector<Key> &keys) {
    writer.put(node);
    writer.zeros(6);
    writer.put(keys);
}

inline NodeId get_node_and_keys(FrameReader &reader, const FrameHeader &header, const Shape &shape,
                                std::vector<Key> *keys) {
    auto node = reader.get<NodeId>();
    if (header.kind != Kind::gone || (node != no_room && node != not_admitted)) checked(node, shape);
    reader.zeros(6);
    get_keys(reader, header, shape, keys);
    return node;
}

inline void put_nodes(FrameWriter &writer, const std::vector<NodeId> &nodes) {
    writer.put(uint16_t(nodes.size()));
    writer.put(nodes);
}

inline std::vector<NodeId> get_nodes(FrameReader &reader, const Shape &shape) {
    std::vector<NodeId> nodes;
    reader.get(&nodes, reader.get<uint16_t>());
    for (NodeId node : nodes) checked(node, shape);
    return nodes;
}

// Writes of workers, by their origins.
struct OriginRecord {
    NodeId node;
    uint16_t unused;
    uint32_t worker, position, behind;
    uint64_t operation;
};
static_assert(sizeof(OriginRecord) == 24, "as in docs/wire.md");

inline void put_origins(FrameWriter &writer, const std::vector<Origin> &origins) {
    writer.put(uint32_t(origins.size()));
    for (const Origin &origin : origins)
        writer.put(OriginRecord{origin.node, 0, origin.worker, origin.position, origin.behind, origin.operation});
}

inline std::vector<Origin> get_origins(FrameReader &reader, const Shape &shape) {
    std::vector<OriginRecord> records;
    reader.get(&records, reader.get<uint32_t>());
    std::vector<Origin> origins;
    for (const OriginRecord &record : records) {
        if (record.unused) throw Malformed("bytes that are not used are not zero");
        origins.push_back(
            {checked(record.node, shape), record.worker, record.position, record.operation, record.behind});
    }
    return origins;
}

inline Bytes get_bytes(FrameReader &reader, uint64_t bytes) {
    const char *at = reader.skip(bytes);
    return Bytes(at, at + bytes);
}

// A text of printed characters.
inline std::string get_text(FrameReader &reader, uint32_t bytes, size_t most, const char *what) {
    if (bytes > most)
        throw Malformed(std::string(what) + " has " + std::to_string(bytes) + " bytes; " + std::to_string(most) +
                        " are allowed");
    const char *at = reader.skip(bytes);
    if (!std::all_of(at, at + bytes, [](char c) { return c >= ' ' && c < 127; }))
        throw Malformed(std::string(what) + " has characters that are not printed");
    return std::string(at, bytes);
}

} // namespace ps
