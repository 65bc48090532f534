#include "net/zeromq/carriers.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>

namespace ps {

namespace {
constexpr uint32_t nodes_of_carrier = 32;
constexpr uint32_t processors_of_carrier = 2;
constexpr uint32_t most_for_nodes = 8; // descriptors of so many have room in what limits.cpp expects of a node
} // namespace

uint32_t carriers_of_node(uint32_t server_threads, uint32_t num_nodes, uint32_t processors) {
    const uint32_t wanted = (num_nodes + nodes_of_carrier - 1) / nodes_of_carrier;
    return std::max({server_threads, std::min({wanted, processors / processors_of_carrier, most_for_nodes}), 1u});
}

// More processors than a set of them has room for: then those that there are.
uint32_t usable_processors() {
    cpu_set_t usable;
    if (sched_getaffinity(0, sizeof usable, &usable) == 0) return uint32_t(CPU_COUNT(&usable));
    return uint32_t(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

} // namespace ps
