// The transport over ZeroMQ: endpoints "tcp://HOST:PORT" and "ipc://PATH".
#pragma once

#include <memory>
#include <string>

#include "net/transport.h"

namespace ps {

std::unique_ptr<NodeTransport> make_zeromq_node(const NodeEnd &node, const std::string &endpoint);
std::unique_ptr<WorkerTransport> make_zeromq_worker(const WorkerEnd &worker); // opens the library of its node

} // namespace ps
