#include "net/outbound.h"

#include <utility>

namespace ps {

void Outbound::send(NodeId to, Bytes message) {
    if (has_sockets_)
        peers_.send(to, std::move(message));
    else
        leave({to, {}, std::move(message)});
}

void Outbound::answer(NodeId node, const std::string &worker, Bytes message) {
    if (has_sockets_)
        carry(node, worker, std::move(message));
    else
        leave({node, worker, std::move(message)});
}

void Outbound::answer(NodeId node, const std::string &worker, ZmqMessage &&message) {
    if (has_sockets_)
        carry(node, worker, message);
    else
        leave({node, worker, std::move(message)});
}

void Outbound::pass_on(const std::string &worker, Bytes message) { answer(self_, worker, std::move(message)); }

// Without a way to a worker of this node, that is gone.
void Outbound::carry(NodeId node, const std::string &worker, Bytes &&message) {
    if (!routers_.send(worker, std::move(message)) && node != self_) peers_.send(node, std::move(message));
}

void Outbound::carry(NodeId node, const std::string &worker, ZmqMessage &message) {
    if (!routers_.send(worker, message) && node != self_) peers_.send(node, message);
}

void Outbound::begin(bool has_sockets) {
    has_sockets_ = has_sockets;
    if (has_sockets) deliver();
}

// One that leaves something where nothing is yet rings; the others know that it will be looked at.
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
    for (Left &next : messages) {
        if (auto *answer = std::get_if<ZmqMessage>(&next.message))
            carry(next.node, next.worker, *answer);
        else if (Bytes &message = std::get<Bytes>(next.message); next.worker.empty())
            peers_.send(next.node, std::move(message));
        else
            carry(next.node, next.worker, std::move(message));
    }
}

} // namespace ps
