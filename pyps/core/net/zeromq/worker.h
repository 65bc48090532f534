// A worker's way to the nodes over ZeroMQ: to the server that is in its own process inside of that, to all others over
// one socket, which is there as soon as there is one to talk to.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/transport.h"
#include "net/zeromq/connections.h"

namespace ps {

// A context for a server's inside alone. It lives as long as the last worker that has connected in there.
class ZmqInside final : public Inside, public std::enable_shared_from_this<ZmqInside> {
public:
    static constexpr char endpoint[] = "inproc://server";

    explicit ZmqInside(int sockets) : context_(ZmqContext::Inside{sockets}) {}

    ZmqContext &context() { return context_; }
    std::unique_ptr<WorkerTransport> connect(const WorkerEnd &worker) override;

private:
    ZmqContext context_;
};

class ZmqWorker final : public WorkerTransport {
public:
    ZmqWorker(const WorkerEnd &worker, std::shared_ptr<ZmqInside> inside); // null: the server is in another process

    Message message(size_t bytes) override { return room_of_zmq(bytes); }
    void reach(NodeId node) override;
    void send(NodeId to, Message &&message, bool expects_nothing) override;
    bool receive(Message *message) override;
    bool wait(double seconds) override;
    std::vector<NodeId> broken() override;

private:
    Connections &others_to(NodeId node);
    bool is_inside(NodeId node) const { return own_ && node == worker_.end.node; }

    const WorkerEnd worker_;
    std::shared_ptr<ZmqInside> inside_;
    ZmqContext context_;
    std::optional<ZmqSocket> own_; // to the server inside
    std::optional<Connections> others_;
};

} // namespace ps
