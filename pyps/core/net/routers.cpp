#include "net/routers.h"

#include <utility>

namespace ps {

namespace {

// All nodes of a cluster connect at once. Whoever finds no room tries again after 1 s, then 2, 4, 8: with ZeroMQ's own
// 100 that is what most of a large cluster's start takes.
constexpr int most_that_wait = 1 << 14;

} // namespace

// A worker's place may be taken anew before ZeroMQ is through with its last socket.
Routers::Routers(ZmqContext &context, uint32_t max_workers)
    : context_(std::make_shared<ZmqContext>(ZmqContext::Inside{int(2 * max_workers + 2)})),
      inside_(*context_, ZmqSocket::router), outside_(context, ZmqSocket::router) {
    inside_.set(ZmqOption::router_mandatory, 1);
    outside_.set(ZmqOption::router_mandatory, 1);
    outside_.set(ZmqOption::router_handover, 1);
    outside_.set(ZmqOption::backlog, most_that_wait);
}

std::string Routers::bind(const std::string &endpoint) {
    inside_.bind(inside_endpoint);
    std::string taken = outside_.bind(endpoint);
    file_ = SocketFile(taken);
    sign_of_life_ = SignOfLife(taken);
    return taken;
}

// Only workers that were heard there are there, until they are not reached any more: to look for others would cost time
// and find nothing. If the message was not sent, it is whole.
template <class Message>
bool Routers::send_inside(const std::string &peer, Message &&message) {
    auto found = insiders_.find(peer);
    if (found == insiders_.end()) return false;
    if (inside_.send(peer, std::forward<Message>(message))) return true;
    insiders_.erase(found);
    return false;
}

bool Routers::send(const std::string &peer, Bytes &&message) {
    return send_inside(peer, std::move(message)) || outside_.send(peer, std::move(message));
}

bool Routers::send(const std::string &peer, ZmqMessage &message) {
    return send_inside(peer, message) || outside_.send(peer, message);
}

bool Routers::wait(int descriptor, double seconds) {
    return wait_for_any({&inside_, &outside_}, descriptor, seconds, &rang_);
}

} // namespace ps
