// How long a message may be. None is longer because more is asked for at once; so a stranger cannot have a node
// allocate what he announces: ZeroMQ ends his connection before it reads a longer one.
#pragma once

#include <cstdint>
#include <string>

#include "wire/frame.h"

namespace ps {

constexpr uint64_t most_for_worker = uint64_t(16) << 20; // bytes of keys, positions and values, asked for or answered
constexpr uint64_t most_for_node = uint64_t(1) << 20;    // of what nodes tell each other: others wait behind it
constexpr uint64_t bytes_per_key = sizeof(uint64_t) + sizeof(uint32_t); // the key and its position

// Whether so many keys with such values make one message of an operation, and one answer. A key alone always does.
inline bool is_one_message(uint64_t keys, uint64_t value_bytes, uint64_t most = most_for_worker) {
    return keys == 1 || keys * bytes_per_key + value_bytes <= most;
}

inline void require_one_message(uint64_t keys, uint64_t value_bytes) {
    if (!is_one_message(keys, value_bytes))
        throw Malformed("it is about " + std::to_string(keys) + " keys with " + std::to_string(value_bytes) +
                        " bytes of values: more than one message is for");
}

} // namespace ps
