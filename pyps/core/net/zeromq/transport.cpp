#include "net/zeromq/transport.h"

#include "net/zeromq/library.h"
#include "net/zeromq/node.h"
#include "net/zeromq/worker.h"

namespace ps {

std::unique_ptr<NodeTransport> make_zeromq_node(const NodeEnd &node, const std::string &endpoint) {
    return std::make_unique<ZmqNode>(node, endpoint);
}

std::unique_ptr<WorkerTransport> make_zeromq_worker(const WorkerEnd &worker) {
    load_zmq_unless_named(worker.library);
    return std::make_unique<ZmqWorker>(worker, nullptr);
}

} // namespace ps
