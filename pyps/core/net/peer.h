// Names of the connections to a node, and a store's answers to what encoders and decoders of messages ask (Shape).
#pragma once

#include <cstring>
#include <string>

#include "membership/notes.h"
#include "net/curve.h"
#include "segment/segment.h"
#include "wire/frame.h"
#include "wire/shape.h"

namespace ps {

// The name of a connection: a letter, the node's number, a worker's number unless it is a node's connection, and the
// cluster's number. So a process that does not know the cluster's number cannot take another one's name.
inline std::string name_of_worker(NodeId node, uint32_t worker, uint64_t cluster) {
    std::string name(15, 'W');
    std::memcpy(&name[1], &node, sizeof node);
    std::memcpy(&name[3], &worker, sizeof worker); // how many workers had joined its node, so it is never used again
    std::memcpy(&name[7], &cluster, sizeof cluster);
    return name;
}

inline std::string name_of_node(NodeId node, uint64_t cluster) {
    std::string name(11, 'N');
    std::memcpy(&name[1], &node, sizeof node);
    std::memcpy(&name[3], &cluster, sizeof cluster);
    return name;
}

// The name of the links of a node's vigil.
inline std::string name_of_vigil(NodeId node, uint64_t cluster) {
    std::string name = name_of_node(node, cluster);
    name[0] = 'V';
    return name;
}

inline bool is_member(const Segment &segment, NodeId node) { return segment.member(node).is_member(); }

// Or from a node that has joined in an epoch of which this one has not heard yet.
inline bool is_from_member(const Segment &segment, const FrameHeader &header) {
    const uint32_t epoch = segment.header().epoch.load(std::memory_order_acquire); // follows the state of the members
    if (is_member(segment, header.from)) return true;
    const Member state = segment.member(header.from).state.load(std::memory_order_acquire);
    return state == Member::absent && header.epoch > epoch;
}

// Of one that is no member: it has shut down and told so. What it sent before may still come, and is nothing to count.
inline bool has_left(const Segment &segment, NodeId node) {
    return Evidence(segment.member(node).evidence.load(std::memory_order_relaxed)) == Evidence::left;
}

// The same if this node has only been told that the others go on without it: it may have shut down, and what it sent in
// a former epoch may have been on its way then.
inline bool may_have_left(const Segment &segment, const FrameHeader &header) {
    const auto evidence = Evidence(segment.member(header.from).evidence.load(std::memory_order_relaxed));
    return evidence == Evidence::told && header.epoch < segment.header().epoch.load(std::memory_order_acquire);
}

class StoreShape final : public Shape {
public:
    explicit StoreShape(const Segment &segment) : segment_(segment) {}

    KeySpace keys() const override { return segment_.key_space(); }
    NodeId places() const override { return NodeId(segment_.header().places); }
    ChannelRule channels() const override { return segment_.channel_rule(); }
    uint64_t value_bytes(Key key) const override { return segment_.value_bytes(key); }
    uint64_t whole_bytes(Key key) const override { return segment_.whole_bytes(key); }
    uint64_t total_bytes(const std::vector<Key> &keys) const override {
        uint64_t each = uniform_bytes();
        return each ? each * keys.size() : Shape::total_bytes(keys);
    }
    std::vector<uint64_t> lengths(const std::vector<Key> &keys) const override {
        std::vector<uint64_t> bytes(keys.size());
        for (size_t i = 0; i < keys.size(); i++) bytes[i] = segment_.value_bytes(keys[i]);
        return bytes;
    }
    uint64_t total_whole_bytes(const std::vector<Key> &keys) const override {
        if (segment_.header().num_classes > 1) return Shape::total_whole_bytes(keys);
        return segment_.length_class(0).whole_bytes * keys.size();
    }
    Packing packing() const override { return segment_.header().compression.packing(); }
    uint64_t uniform_bytes() const override {
        return uint64_t(segment_.header().value_length) * segment_.header().element_bytes;
    }

private:
    const Segment &segment_;
};

inline CurveKeys keys_of(const Segment &segment) {
    return {segment.header().curve_public, segment.header().curve_secret};
}

inline FrameHeader header_from(const Segment &segment, uint32_t channel = 0) {
    FrameHeader header;
    header.channel = channel & 0xff;
    header.from = NodeId(segment.header().node);
    header.cluster = segment.header().cluster;
    header.epoch = segment.header().epoch.load(std::memory_order_acquire) & 0xffffff;
    return header;
}

} // namespace ps
