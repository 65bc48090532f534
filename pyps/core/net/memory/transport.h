// The transport inside of one process: endpoints "memory://NAME", for nodes of which each has a thread, and their
// workers. NAME may be *: a free one is taken. What a real network does to messages can be asked for:
// "memory://NAME?delay=0.002&jitter=0.001", as in options.h.
#pragma once

#include <memory>
#include <string>

#include "net/transport.h"

namespace ps {

std::unique_ptr<NodeTransport> make_memory_node(const NodeEnd &node, const std::string &endpoint);
std::unique_ptr<WorkerTransport> make_memory_worker(const WorkerEnd &worker); // throws PS_EADDRESS: another process

} // namespace ps
