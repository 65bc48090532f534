#include "net/zeromq/worker.h"

#include <utility>

namespace ps {

std::unique_ptr<WorkerTransport> ZmqInside::connect(const WorkerEnd &worker) {
    return std::make_unique<ZmqWorker>(worker, shared_from_this());
}

ZmqWorker::ZmqWorker(const WorkerEnd &worker, std::shared_ptr<ZmqInside> inside)
    : worker_(worker), inside_(std::move(inside)), context_(worker.end.keys, worker.end.longest) {
    if (!inside_) return;
    own_.emplace(inside_->context(), ZmqSocket::dealer);
    own_->set(ZmqOption::routing_id, worker.end.name);
    own_->connect(ZmqInside::endpoint);
}

void ZmqWorker::reach(NodeId node) {
    if (!is_inside(node)) others_to(node);
}

void ZmqWorker::send(NodeId to, Message &&message, bool expects_nothing) {
    ZmqSocket &socket = is_inside(to) ? *own_ : others_to(to).socket();
    bool nothing_came = own_ && expects_nothing && !socket.may_have_more();
    if (is_inside(to))
        own_->send(std::move(message));
    else
        others_->send(to, std::move(message));
    if (nothing_came) socket.nothing_came();
}

// Without a server inside there is one socket. Then wait() receives: ZeroMQ sleeps in that call, which takes three
// system calls less than to wait for the descriptor, to receive, and to try once more to find nothing.
bool ZmqWorker::receive(Message *message) {
    if (!own_) {
        bool any = has_arrived_;
        if (std::exchange(has_arrived_, false)) *message = std::move(arrived_);
        return any;
    }
    if (own_->may_have_more() && own_->receive(&message->renew<ZmqMessage>())) return true;
    return others_ && others_->receive(message);
}

bool ZmqWorker::wait(double seconds) {
    if (!own_ && others_) {
        if (!has_arrived_) has_arrived_ = others_->receive_within(seconds, &arrived_);
        return has_arrived_;
    }
    std::vector<ZmqSocket *> sockets;
    if (own_) sockets.push_back(&*own_);
    if (others_) sockets.push_back(&others_->socket());
    if (wait_for_any(sockets, -1, seconds)) return true;
    for (ZmqSocket *socket : sockets) socket->look_again();
    return false;
}

std::vector<NodeId> ZmqWorker::broken() {
    std::vector<NodeId> nodes;
    if (!others_) return nodes;
    others_->events().socket().look_again(); // as wait() does not wait for this one
    for (const ConnectionEvent &event : others_->events().all())
        if (event.has_broken) nodes.push_back(event.node);
    return nodes;
}

Connections &ZmqWorker::others_to(NodeId node) {
    if (!others_) others_.emplace(context_, worker_.end.num_nodes, worker_.end.name, worker_.end.heartbeats);
    if (!others_->has(node)) others_->connect(node, worker_.endpoint_of(node));
    return *others_;
}

} // namespace ps
