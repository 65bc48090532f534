#include "net/worker_connections.h"

#include <utility>

#include "net/bounds.h"
#include "net/peer.h"
#include "net/routers.h"

namespace ps {

WorkerConnections::WorkerConnections(const Segment &segment, std::shared_ptr<ZmqContext> inside, uint32_t worker)
    : segment_(segment), own_node_(NodeId(segment.header().node)),
      name_(name_of_worker(own_node_, worker, segment.header().cluster)), inside_(std::move(inside)),
      context_(keys_of(segment), longest_message(segment.header())) {
    if (!inside_) return;
    own_.emplace(*inside_, ZmqSocket::dealer);
    own_->set(ZmqOption::routing_id, name_);
    own_->connect(inside_endpoint);
}

void WorkerConnections::reach(NodeId node) {
    if (!is_inside(node)) others_to(node);
}

void WorkerConnections::send(NodeId to, Bytes message) {
    if (is_inside(to))
        own_->send(std::move(message));
    else
        others_to(to).send(to, std::move(message));
}

void WorkerConnections::send(NodeId to, ZmqMessage &message, bool expects_nothing) {
    ZmqSocket &socket = is_inside(to) ? *own_ : others_to(to).socket();
    bool nothing_came = expects_nothing && !socket.may_have_more();
    if (is_inside(to))
        own_->send(message);
    else
        others_->send(to, message);
    if (nothing_came) socket.nothing_came();
}

bool WorkerConnections::receive(ZmqMessage *message) {
    if (own_ && own_->may_have_more() && own_->receive(message)) return true;
    return others_ && others_->receive(message);
}

bool WorkerConnections::wait(double seconds) {
    std::vector<ZmqSocket *> sockets;
    if (own_) sockets.push_back(&*own_);
    if (others_) sockets.push_back(&others_->socket());
    if (wait_for_any(sockets, -1, seconds)) return true;
    for (ZmqSocket *socket : sockets) socket->look_again();
    return false;
}

std::vector<NodeId> WorkerConnections::broken() {
    std::vector<NodeId> nodes;
    if (!others_) return nodes;
    others_->events().socket().look_again(); // nobody waits for them
    for (const ConnectionEvents::Event &event : others_->events().all())
        if (event.has_broken) nodes.push_back(event.node);
    return nodes;
}

Connections &WorkerConnections::others_to(NodeId node) {
    if (!others_)
        others_.emplace(context_, NodeId(segment_.header().num_nodes), name_,
                        heartbeats_within(2 * segment_.header().lost_after));
    if (!others_->has(node)) others_->connect(node, segment_.endpoint(node));
    return *others_;
}

} // namespace ps
