// Checks that the system has enough left for a ZeroMQ context and its first socket: if it had not, ZeroMQ would end the
// process.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ps {

// Descriptors and threads, if so many threads shall carry messages; throws PS_ESYSTEM.
void require_room_for_zmq(size_t carriers);

// Descriptors for the connections of one node of so many. In a large cluster the process's limit is raised as far as
// that needs, and the system lets it. Throws PS_ESYSTEM.
void require_room_for_nodes(uint32_t num_nodes);

} // namespace ps
