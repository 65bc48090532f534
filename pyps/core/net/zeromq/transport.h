// The transport over ZeroMQ: endpoints "tcp://HOST:PORT" and "ipc://PATH".
#pragma once

#include <memory>
#include <string>

#include "net/transport.h"

namespace ps {

std::unique_ptr<NodeTransport> make_zeromq_node(const NodeEnd &node, const std::string &endpoint);
// Opens the ZeroMQ library that its node's server uses.
std::unique_ptr<WorkerTransport> make_zeromq_worker(const WorkerEnd &worker);

} // namespace ps
