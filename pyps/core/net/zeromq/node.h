// A node's transport over ZeroMQ.
#pragma once

#include <memory>
#include <string>

#include "net/transport.h"
#include "net/zeromq/admission.h"
#include "net/zeromq/connections.h"
#include "net/zeromq/routers.h"

namespace ps {

class ZmqNode final : public NodeTransport {
public:
    ZmqNode(const NodeEnd &node, const std::string &endpoint);

    const std::string &endpoint() const override { return endpoint_; }
    std::string library() const override;
    std::weak_ptr<Inside> inside() override { return routers_.inside(); }
    Message message(size_t bytes) override { return room_of_zmq(bytes); }
    void connect(NodeId node, const std::string &endpoint) override { peers_.connect(node, endpoint); }
    std::unique_ptr<Links> links(const std::string &name, Heartbeats heartbeats) override;
    bool send(NodeId to, Message &&message) override { return peers_.send(to, std::move(message)); }
    bool reply(const std::string &name, Message &&message) override { return routers_.send(name, std::move(message)); }
    bool receive(Received *received) override { return routers_.receive(received); }
    Woken wait(int descriptor, double seconds) override { return routers_.wait(descriptor, seconds); }
    void linger(double seconds) override { peers_.linger(seconds); }

private:
    ZmqContext context_;
    Routers routers_;
    std::unique_ptr<Admission> admission_; // null without CURVE keys
    Connections peers_;
    std::string endpoint_;
};

} // namespace ps
