// The transport inside of one process, with endpoints "memory://NAME": for nodes that run as threads of one process,
// and their workers. For the NAME * a free name is chosen. Delays and breaks, as in a real network, can be asked for:
// "memory://NAME?delay=0.002&jitter=0.001"; see options.h.
#pragma once

#include <memory>
#include <string>

#include "net/transport.h"

namespace ps {

std::unique_ptr<NodeTransport> make_memory_node(const NodeEnd &node, const std::string &endpoint);
// Always throws PS_EADDRESS: the worker is in another process.
std::unique_ptr<WorkerTransport> make_memory_worker(const WorkerEnd &worker);

} // namespace ps
