#include "requests/departure.h"

#include <algorithm>
#include <cstring>

#include "wire/bounds.h"

namespace ps {

namespace {

constexpr uint32_t none = UINT32_MAX;

// One message. Its keys are counted first; when it is written, the pointers say where the next key goes.
struct Part {
    NodeId to;
    size_t first; // the position of its first key
    uint32_t count = 0, left = 0; // how many keys it has, and how many are not written yet
    uint32_t next = none; // the next message in its lane
    uint64_t bytes = 0; // of values, in this message or in its answer
    char *key = nullptr, *position = nullptr, *value = nullptr;
};

template <class Type>
void put(char **at, const Type &value) {
    std::memcpy(*at, &value, sizeof value);
    *at += sizeof value;
}

void put(char **at, const char *from, uint64_t bytes) {
    if (bytes) std::memcpy(*at, from, bytes); // without values `from` may be null
    *at += bytes;
}

} // namespace

// A pull or push of several keys may go to any channel of a node, which does what it can for all keys. A set goes to
// the channels of its keys, because if a key comes twice, its values must be set in their order, and so does what is
// about rows.
bool Departure::is_by_channel() const { return channels.channels() > 1 && goes_by_channel(head.operation); }

FrameHeader Departure::header_of(size_t first, size_t count) const {
    FrameHeader of = header;
    if (channels.channels() > 1) {
        bool is_one = count == 1 || is_by_channel();
        of.channel = (is_one ? channels.channel(keys[first]) : any_channel) & 0xff;
    }
    return of;
}

bool Departure::is_whole() const {
    if (!positions.empty() || !is_one_message(keys.size(), value_bytes, most)) return false;
    if (!std::all_of(targets.begin(), targets.end(), [&](NodeId node) { return node == targets[0]; })) return false;
    if (!is_by_channel()) return true;
    uint32_t first = channels.channel(keys[0]);
    return std::all_of(keys.begin(), keys.end(), [&](Key key) { return channels.channel(key) == first; });
}

void Departure::write_whole(Outbox &outbox) const {
    uint64_t key_bytes = keys.size() * sizeof(Key), here = has_values() ? value_bytes : 0;
    char *at = outbox.reserve(targets[0], sizeof(OperationHead) + key_bytes + here);
    put(&at, head.head(header_of(0, keys.size()), keys.size(), true));
    put(&at, reinterpret_cast<const char *>(keys.data()), key_bytes);
    if (spans.empty())
        put(&at, values, here);
    else if (has_values())
        for (const ValueSpan &span : spans) put(&at, span.at, span.bytes);
}

// The lane of each key: keys for the same node, or the same channel of it, share messages.
std::vector<uint32_t> Departure::lanes(NodeId num_nodes) const {
    std::vector<uint32_t> of_keys(targets.begin(), targets.end());
    if (is_by_channel())
        for (size_t i = 0; i < keys.size(); i++) of_keys[i] += channels.channel(keys[i]) * num_nodes;
    return of_keys;
}

void Departure::write(NodeId num_nodes, Outbox &outbox) const {
    if (is_whole()) return write_whole(outbox);
    const std::vector<uint32_t> lane = lanes(num_nodes);
    std::vector<Part> parts;
    const size_t num_lanes = size_t(num_nodes) * (is_by_channel() ? channels.channels() : 1);
    std::vector<uint32_t> first(num_lanes, none), last(num_lanes, none); // numbers of messages, by lane
    for (size_t i = 0; i < keys.size(); i++) {
        uint64_t bytes = value_bytes == 0 ? 0 : length(i);
        uint32_t &at = last[lane[i]];
        if (at == none || !is_one_message(parts[at].count + 1, parts[at].bytes + bytes, most)) {
            (at == none ? first[lane[i]] : parts[at].next) = uint32_t(parts.size());
            at = uint32_t(parts.size());
            parts.push_back({targets[i], i});
        }
        parts[at].count++;
        parts[at].bytes += bytes;
    }
    for (Part &part : parts) {
        uint64_t columns = part.count * bytes_per_key;
        part.left = part.count;
        part.key = outbox.reserve(part.to, sizeof(OperationHead) + columns + (has_values() ? part.bytes : 0));
        put(&part.key, head.head(header_of(part.first, part.count), part.count, false));
        part.position = part.key + part.count * sizeof(Key);
        part.value = part.key + columns;
    }
    for (size_t i = 0; i < keys.size(); i++) {
        uint32_t &at = first[lane[i]];
        Part &part = parts[at];
        put(&part.key, keys[i]);
        put(&part.position, positions.empty() ? uint32_t(i) : positions[i]);
        if (--part.left == 0) at = part.next;
        if (has_values()) put(&part.value, spans.empty() ? values + i * each : spans[i].at, length(i));
    }
}

} // namespace ps
