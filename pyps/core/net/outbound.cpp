#include "net/outbound.h"

#include <utility>

namespace ps {

void Outbound::send(NodeId to, Message &&message) {
    if (has_transport_)
        transport_.send(to, std::move(message));
    else
        leave({to, {}, std::move(message)});
}

void Outbound::answer(NodeId node, const std::string &worker, Message &&message) {
    if (has_transport_)
        carry(node, worker, std::move(message));
    else
        leave({node, worker, std::move(message)});
}

void Outbound::pass_on(const std::string &worker, Message &&message) { answer(self_, worker, std::move(message)); }

// An answer to a worker of this node that has no connection here is dropped: the worker has ended.
void Outbound::carry(NodeId node, const std::string &worker, Message &&message) {
    if (!worker.empty() && (transport_.reply(worker, std::move(message)) || node == self_)) return;
    transport_.send(node, std::move(message));
}

void Outbound::begin(bool has_transport) {
    has_transport_ = has_transport;
    if (has_transport) deliver();
}

// Only the first message rings the doorbell: deliver() takes all that have been added until it runs.
void Outbound::leave(Left message) {
    bool first;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        first = left_.empty();
        left_.push_back(std::move(message));
    }
    if (first) doorbell_.ring();
}

void Outbound::deliver() {
    std::vector<Left> messages;
    {
        std::lock_guard<std::mutex> lock(mutex_);
        messages.swap(left_);
    }
    for (Left &next : messages) carry(next.node, next.worker, std::move(next.message));
}

} // namespace ps
