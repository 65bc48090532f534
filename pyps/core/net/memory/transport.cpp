#include "net/memory/transport.h"

#include "errors.h"
#include "net/memory/node.h"

namespace ps {

std::unique_ptr<NodeTransport> make_memory_node(const NodeEnd &node, const std::string &endpoint) {
    return std::make_unique<MemoryNode>(node, parse_memory_endpoint(endpoint));
}

std::unique_ptr<WorkerTransport> make_memory_worker(const WorkerEnd &worker) {
    fail(PS_EADDRESS, Where{},
         "node %u is bound to %s, which only threads of the process that created it reach: bind the nodes to tcp:// or "
         "ipc:// endpoints, so that workers of other processes can reach the keys of other nodes",
         unsigned(worker.end.node), worker.endpoint_of(worker.end.node).c_str());
}

} // namespace ps
