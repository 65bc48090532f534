#include "requests/departure.h"

#include <algorithm>
#include <cstring>

#include "wire/bounds.h"

namespace ps {

namespace {

constexpr uint32_t none = UINT32_MAX;

// One message: first how much it has, then where the next key goes.
struct Part {
    NodeId to;
    uint32_t channel;
    uint32_t count = 0, left = 0; // keys, to be written
    uint32_t next = none;         // message to this channel of the node
    uint64_t bytes = 0;           // of values, here or in the answer
    char *key = nullptr, *position = nullptr, *value = nullptr;
};

template <class Type>
void put(char **at, const Type &value) {
    std::memcpy(*at, &value, sizeof value);
    *at += sizeof value;
}

void put(char **at, const char *from, uint64_t bytes) {
    if (bytes) std::memcpy(*at, from, bytes); // no values, no address
    *at += bytes;
}

} // namespace

bool Departure::is_whole(const ChannelRule &channels) const {
    if (!is_one_message(keys.size(), value_bytes, most)) return false;
    if (!std::all_of(targets.begin(), targets.end(), [&](NodeId node) { return node == targets[0]; })) return false;
    if (channels.channels() == 1) return true;
    uint32_t first = channels.channel(keys[0]);
    return std::all_of(keys.begin(), keys.end(), [&](Key key) { return channels.channel(key) == first; });
}

void Departure::write_whole(FrameHeader header, const ChannelRule &channels, Outbox &outbox) const {
    header.channel = channels.channel(keys[0]) & 0xff;
    uint64_t key_bytes = keys.size() * sizeof(Key), here = has_values() ? value_bytes : 0;
    char *at = outbox.reserve(targets[0], sizeof(OperationHead) + key_bytes + here);
    put(&at, head.head(header, keys.size(), true));
    put(&at, reinterpret_cast<const char *>(keys.data()), key_bytes);
    if (spans.empty())
        put(&at, values, here);
    else if (has_values())
        for (const ValueSpan &span : spans) put(&at, span.at, span.bytes);
}

void Departure::write(FrameHeader header, NodeId num_nodes, const ChannelRule &channels, Outbox &outbox) const {
    if (is_whole(channels)) return write_whole(header, channels, outbox);
    const size_t lanes = size_t(num_nodes) * channels.channels();
    std::vector<Part> parts;
    std::vector<uint32_t> first(lanes, none), last(lanes, none); // messages, by channel and node
    std::vector<uint32_t> of_keys;
    if (channels.channels() > 1) {
        of_keys.reserve(keys.size());
        for (size_t i = 0; i < keys.size(); i++) of_keys.push_back(channels.channel(keys[i]) * num_nodes + targets[i]);
    }
    auto lane = [&](size_t i) { return of_keys.empty() ? targets[i] : of_keys[i]; };
    for (size_t i = 0; i < keys.size(); i++) {
        uint64_t bytes = value_bytes == 0 ? 0 : length(i);
        uint32_t &at = last[lane(i)];
        if (at == none || !is_one_message(parts[at].count + 1, parts[at].bytes + bytes, most)) {
            (at == none ? first[lane(i)] : parts[at].next) = uint32_t(parts.size());
            at = uint32_t(parts.size());
            parts.push_back({targets[i], lane(i) / num_nodes});
        }
        parts[at].count++;
        parts[at].bytes += bytes;
    }
    for (Part &part : parts) {
        uint64_t columns = part.count * bytes_per_key;
        part.left = part.count;
        part.key = outbox.reserve(part.to, sizeof(OperationHead) + columns + (has_values() ? part.bytes : 0));
        header.channel = part.channel & 0xff;
        put(&part.key, head.head(header, part.count, false));
        part.position = part.key + part.count * sizeof(Key);
        part.value = part.key + columns;
    }
    for (size_t i = 0; i < keys.size(); i++) {
        uint32_t &at = first[lane(i)];
        Part &part = parts[at];
        put(&part.key, keys[i]);
        put(&part.position, uint32_t(i));
        if (--part.left == 0) at = part.next;
        if (has_values()) put(&part.value, spans.empty() ? values + i * each : spans[i].at, length(i));
    }
}

} // namespace ps
