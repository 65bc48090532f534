// How many threads ZeroMQ has for the connections of a node's server. A connection belongs to one of them, so that its
// messages keep their order.
#pragma once

#include <cstdint>

namespace ps {

// At least as many as the server has. What goes to each of many nodes takes one of them longer than the keys take the
// server: so there are more where there are many nodes, but only where processors are left beside those that the
// workers and the server need. Where there are none, they would only take them from these.
uint32_t carriers_of_node(uint32_t server_threads, uint32_t num_nodes, uint32_t processors);

uint32_t usable_processors(); // that this process may use

} // namespace ps
