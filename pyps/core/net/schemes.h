// The transports, by the schemes of endpoints. A new one is a folder beside this file, and a row in schemes.cpp.
#pragma once

#include <memory>
#include <string>

#include "net/transport.h"

namespace ps {

// Throw PS_EINVAL if the endpoint has no scheme that is known.
std::unique_ptr<NodeTransport> make_node_transport(const NodeEnd &node, const std::string &endpoint);
// For a process other than the one that created the node at this endpoint.
std::unique_ptr<WorkerTransport> make_worker_transport(const WorkerEnd &worker, const std::string &endpoint);

// Throws PS_EINVAL if a node at the one endpoint cannot reach one at the other.
void require_same_transport(const std::string &own, const std::string &other);

} // namespace ps
