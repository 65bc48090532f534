#include "net/memory/node.h"

#include <utility>

#include "net/memory/links.h"
#include "net/memory/worker.h"

namespace ps {

std::unique_ptr<WorkerTransport> MemoryInside::connect(const WorkerEnd &worker) {
    return std::make_unique<MemoryWorker>(hub_, host_, worker);
}

MemoryNode::MemoryNode(const NodeEnd &node, const MemoryOptions &options)
    : hub_(Hub::here()), host_(std::make_shared<Host>(node, options)),
      inside_(std::make_shared<MemoryInside>(hub_, host_)), wires_(hub_, host_, host_->server, node.end, true) {
    hub_.bind(host_);
    endpoint_ = host_->options.endpoint();
}

MemoryNode::~MemoryNode() { hub_.unbind(host_); }

std::unique_ptr<Links> MemoryNode::links(const std::string &name, Heartbeats heartbeats) {
    End end = wires_.end();
    end.name = name;
    end.heartbeats = heartbeats;
    return std::make_unique<MemoryLinks>(hub_, host_, end);
}

bool MemoryNode::reply(const std::string &name, Message &&message) {
    return hub_.reply(*host_, name, std::move(message));
}

bool MemoryNode::receive(Received *received) {
    received->fault = nullptr;
    return hub_.receive(host_->server, &received->message, &received->from);
}

NodeTransport::Woken MemoryNode::wait(int descriptor, double seconds) {
    return hub_.wait(host_->server, descriptor, seconds);
}

} // namespace ps
