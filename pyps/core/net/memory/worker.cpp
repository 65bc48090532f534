#include "net/memory/worker.h"

#include <utility>

namespace ps {

void MemoryWorker::reach(NodeId node) {
    if (!wires_.has(node)) wires_.connect(node, endpoint_of_(node));
}

void MemoryWorker::send(NodeId to, Message &&message, bool) {
    reach(to);
    wires_.send(to, std::move(message));
}

std::vector<NodeId> MemoryWorker::broken() {
    std::vector<NodeId> nodes;
    for (const ConnectionEvent &event : hub_.take_events(party_.events))
        if (event.has_broken) nodes.push_back(event.node);
    return nodes;
}

} // namespace ps
