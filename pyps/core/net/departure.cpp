#include "net/departure.h"

#include <algorithm>
#include <cstring>

#include "net/bounds.h"

namespace ps {

namespace {

constexpr uint32_t none = UINT32_MAX;

// One message: first how much it has, then where the next key goes.
struct Part {
    NodeId to;
    uint32_t count = 0, left = 0; // keys, to be written
    uint32_t next = none;         // message to this node
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

ZmqMessage Departure::write_whole(const FrameHeader &header, const StoreShape &shape) const {
    uint64_t key_bytes = keys.size() * sizeof(Key), here = has_values() ? value_bytes : 0;
    ZmqMessage message(sizeof(OperationHead) + key_bytes + here);
    char *at = message.data();
    put(&at, head.head(header, keys.size(), true));
    put(&at, reinterpret_cast<const char *>(keys.data()), key_bytes);
    if (places.empty())
        put(&at, values, here);
    else if (has_values())
        for (size_t i = 0; i < keys.size(); i++) put(&at, places[i], shape.value_bytes(keys[i]));
    return message;
}

std::vector<Departure::Message> Departure::write(const FrameHeader &header, const StoreShape &shape) const {
    std::vector<Message> messages;
    const uint64_t each = shape.uniform_bytes();
    bool is_whole = std::all_of(targets.begin(), targets.end(), [&](NodeId node) { return node == targets[0]; });
    if (is_whole && is_one_message(keys.size(), value_bytes)) {
        messages.push_back({targets[0], write_whole(header, shape)});
        return messages;
    }
    std::vector<Part> parts;
    std::vector<uint32_t> first(shape.num_nodes(), none), last(shape.num_nodes(), none); // messages, by node
    for (size_t i = 0; i < keys.size(); i++) {
        uint64_t length = value_bytes == 0 ? 0 : each ? each : shape.value_bytes(keys[i]);
        uint32_t &at = last[targets[i]];
        if (at == none || !is_one_message(parts[at].count + 1, parts[at].bytes + length)) {
            (at == none ? first[targets[i]] : parts[at].next) = uint32_t(parts.size());
            at = uint32_t(parts.size());
            parts.push_back({targets[i]});
        }
        parts[at].count++;
        parts[at].bytes += length;
    }
    for (Part &part : parts) {
        uint64_t columns = part.count * bytes_per_key;
        messages.push_back({part.to, ZmqMessage(sizeof(OperationHead) + columns + (has_values() ? part.bytes : 0))});
        part.left = part.count;
        part.key = messages.back().message.data();
        put(&part.key, head.head(header, part.count, false));
        part.position = part.key + part.count * sizeof(Key);
        part.value = part.key + columns;
    }
    for (size_t i = 0; i < keys.size(); i++) {
        uint32_t &at = first[targets[i]];
        Part &part = parts[at];
        put(&part.key, keys[i]);
        put(&part.position, uint32_t(i));
        if (--part.left == 0) at = part.next;
        if (!has_values()) continue;
        uint64_t length = each ? each : shape.value_bytes(keys[i]);
        put(&part.value, places.empty() ? values + i * length : places[i], length);
    }
    return messages;
}

} // namespace ps
