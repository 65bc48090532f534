// The longest message that a node's sockets take.
#pragma once

#include <cstdint>

#include "segment/segment.h"
#include "wire/bounds.h"

namespace ps {

// Room for the longest value with the headers around it, and for the replicas that a moving key lists.
inline int64_t longest_message(const Header &header) {
    return int64_t(2 * most_for_worker) + header.longest_value * header.element_bytes;
}

} // namespace ps
