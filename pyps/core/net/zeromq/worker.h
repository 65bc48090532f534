// How a worker reaches the nodes over ZeroMQ: a server of its own process by a socket inside of the process, all others
// by one socket for all of them, which is made when the worker needs it first.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/transport.h"
#include "net/zeromq/connections.h"

namespace ps {

// A context for the messages inside of a server's process. It lives until the last worker that uses it has ended.
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
    // `inside` is null if the server is in another process.
    ZmqWorker(const WorkerEnd &worker, std::shared_ptr<ZmqInside> inside);

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
    std::optional<ZmqSocket> own_; // the socket to the server of this process
    std::optional<Connections> others_;
    Message arrived_; // received by wait()
    bool has_arrived_ = false;
};

} // namespace ps
