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

void Departure::write_whole(const FrameHeader &header, Outbox &outbox) const {
    uint64_t key_bytes = keys.size() * sizeof(Key), here = has_values() ? value_bytes : 0;
    char *at = outbox.reserve(targets[0], sizeof(OperationHead) + key_bytes + here);
    put(&at, head.head(header, keys.size(), true));
    put(&at, reinterpret_cast<const char *>(keys.data()), key_bytes);
    if (spans.empty())
        put(&at, values, here);
    else if (has_values())
        for (const ValueSpan &span : spans) put(&at, span.at, span.bytes);
}

void Departure::write(const FrameHeader &header, NodeId num_nodes, Outbox &outbox) const {
    bool is_whole = std::all_of(targets.begin(), targets.end(), [&](NodeId node) { return node == targets[0]; });
    if (is_whole && is_one_message(keys.size(), value_bytes, most)) return write_whole(header, outbox);
    std::vector<Part> parts;
    std::vector<uint32_t> first(num_nodes, none), last(num_nodes, none); // messages, by node
    for (size_t i = 0; i < keys.size(); i++) {
        uint64_t bytes = value_bytes == 0 ? 0 : length(i);
        uint32_t &at = last[targets[i]];
        if (at == none || !is_one_message(parts[at].count + 1, parts[at].bytes + bytes, most)) {
            (at == none ? first[targets[i]] : parts[at].next) = uint32_t(parts.size());
            at = uint32_t(parts.size());
            parts.push_back({targets[i]});
        }
        parts[at].count++;
        parts[at].bytes += bytes;
    }
    for (Part &part : parts) {
        uint64_t columns = part.count * bytes_per_key;
        part.left = part.count;
        part.key = outbox.reserve(part.to, sizeof(OperationHead) + columns + (has_values() ? part.bytes : 0));
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
        if (has_values()) put(&part.value, spans.empty() ? values + i * each : spans[i].at, length(i));
    }
}

} // namespace ps
