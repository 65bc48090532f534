// How long a message may be. An operation on more is sent as several messages. So a stranger cannot make a node
// allocate as much memory as it announces: a transport ends the connection of a peer that begins a longer message,
// before it reads it.
#pragma once

#include <cstdint>
#include <string>

#include "wire/frame.h"

namespace ps {

// Bytes of keys, positions and values in a request and its answer together.
constexpr uint64_t most_for_worker = uint64_t(16) << 20;
constexpr uint64_t most_for_node = uint64_t(1) << 20; // bytes of a message between nodes: others wait behind it
constexpr uint64_t bytes_per_key = sizeof(uint64_t) + sizeof(uint32_t); // a key and its position

// Whether so many keys with such values are one message of an operation, and one answer. A single key always is.
inline bool is_one_message(uint64_t keys, uint64_t value_bytes, uint64_t most = most_for_worker) {
    return keys == 1 || keys * bytes_per_key + value_bytes <= most;
}

inline void require_one_message(uint64_t keys, uint64_t value_bytes) {
    if (!is_one_message(keys, value_bytes))
        throw Malformed("it is about " + std::to_string(keys) + " keys with " + std::to_string(value_bytes) +
                        " bytes of values, which is too much for one message");
}

} // namespace ps
