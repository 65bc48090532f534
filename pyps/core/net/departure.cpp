#include "net/departure.h"

#include <algorithm>
#include <cstring>

namespace ps {

namespace {

// What one node is sent: first how much, then where the next key goes.
struct Part {
    uint32_t count = 0;
    uint64_t bytes = 0; // of values
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
    uint64_t key_bytes = keys.size() * sizeof(Key), value_bytes = has_values() ? shape.total_bytes(keys) : 0;
    ZmqMessage message(sizeof(OperationHead) + key_bytes + value_bytes);
    char *at = message.data();
    put(&at, head.head(header, keys.size(), true));
    put(&at, reinterpret_cast<const char *>(keys.data()), key_bytes);
    if (places.empty())
        put(&at, values, value_bytes);
    else if (has_values())
        for (size_t i = 0; i < keys.size(); i++) put(&at, places[i], shape.value_bytes(keys[i]));
    return message;
}

std::vector<Departure::Message> Departure::write(const FrameHeader &header, const StoreShape &shape) const {
    std::vector<Message> messages;
    if (std::all_of(targets.begin(), targets.end(), [&](NodeId node) { return node == targets[0]; })) {
        messages.push_back({targets[0], write_whole(header, shape)});
        return messages;
    }
    const uint64_t each = shape.uniform_bytes();
    std::vector<Part> parts(shape.num_nodes());
    for (size_t i = 0; i < keys.size(); i++) {
        Part &part = parts[targets[i]];
        part.count++;
        if (has_values()) part.bytes += each ? each : shape.value_bytes(keys[i]);
    }
    for (NodeId node = 0; node < parts.size(); node++) {
        Part &part = parts[node];
        if (part.count == 0) continue;
        uint64_t columns = part.count * (sizeof(Key) + sizeof(uint32_t));
        messages.push_back({node, ZmqMessage(sizeof(OperationHead) + columns + part.bytes)});
        part.key = messages.back().message.data();
        put(&part.key, head.head(header, part.count, false));
        part.position = part.key + part.count * sizeof(Key);
        part.value = part.key + columns;
    }
    for (size_t i = 0; i < keys.size(); i++) {
        Part &part = parts[targets[i]];
        put(&part.key, keys[i]);
        put(&part.position, uint32_t(i));
        if (!has_values()) continue;
        uint64_t length = each ? each : shape.value_bytes(keys[i]);
        put(&part.value, places.empty() ? values + i * length : places[i], length);
    }
    return messages;
}

} // namespace ps
