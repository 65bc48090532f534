#include "net/zeromq/routers.h"

#include <utility>

#include "net/zeromq/worker.h"

namespace ps {

namespace {

// All nodes of a cluster connect at the same time. One that finds no room tries again after 1 s, then 2, 4 and 8: with
// ZeroMQ's usual backlog of 100, a large cluster would spend most of its start with that.
constexpr int most_that_wait = 1 << 14;

} // namespace

// Twice as many sockets as workers: a new worker may come before ZeroMQ has closed the socket of the last one.
Routers::Routers(ZmqContext &context, uint32_t max_workers)
    : context_(std::make_shared<ZmqInside>(int(2 * max_workers + 2))), inside_(context_->context(), ZmqSocket::router),
      outside_(context, ZmqSocket::router) {
    inside_.set(ZmqOption::router_mandatory, 1);
    outside_.set(ZmqOption::router_mandatory, 1);
    outside_.set(ZmqOption::router_handover, 1);
    outside_.set(ZmqOption::backlog, most_that_wait);
}

std::string Routers::bind(const std::string &endpoint) {
    inside_.bind(ZmqInside::endpoint);
    std::string taken = outside_.bind(endpoint);
    file_ = SocketFile(taken);
    sign_of_life_ = SignOfLife(taken);
    return taken;
}

std::weak_ptr<Inside> Routers::inside() const { return context_; }

// Most names are never inside, and trying them there would only take time. So a name is tried inside only after a
// message has come from it there, and no more once sending to it has failed.
bool Routers::send(const std::string &peer, Message &&message) {
    auto found = insiders_.find(peer);
    if (found != insiders_.end()) {
        if (inside_.send(peer, std::move(message))) return true;
        insiders_.erase(found);
    }
    return outside_.send(peer, std::move(message));
}

bool Routers::receive(Received *received) {
    for (int looks = 0; looks < 2; looks++) {
        outside_is_next_ = !outside_is_next_;
        if (receive(outside_is_next_ ? inside_ : outside_, received)) return true;
    }
    return false;
}

bool Routers::receive(ZmqSocket &router, Received *received) {
    if (!router.may_have_more()) return false;
    ZmqMessage peer;
    if (!router.receive(&peer)) return false;
    auto &frame = received->message.renew<ZmqMessage>();
    received->from.assign(peer.data(), peer.size());
    received->fault = nullptr;
    if (&router == &inside_) insiders_.insert(received->from);
    bool more = peer.more() && router.receive(&frame) && frame.more();
    if (!peer.more() || more) received->fault = more ? "it has more than one part" : "it has no content";
    while (more) {
        ZmqMessage rest;
        more = router.receive(&rest) && rest.more();
    }
    return true;
}

NodeTransport::Woken Routers::wait(int descriptor, double seconds) {
    NodeTransport::Woken woken{};
    woken.news = wait_for_any({&inside_, &outside_}, descriptor, seconds, &woken.rang);
    return woken;
}

} // namespace ps
