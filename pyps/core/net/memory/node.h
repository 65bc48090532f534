// A node's transport inside of one process, for its server and the workers of that process.
#pragma once

#include <memory>
#include <string>

#include "net/memory/hub.h"
#include "net/memory/wires.h"

namespace ps {

class MemoryInside final : public Inside {
public:
    MemoryInside(Hub &hub, std::shared_ptr<Host> host) : hub_(hub), host_(std::move(host)) {}
    std::unique_ptr<WorkerTransport> connect(const WorkerEnd &worker) override;

private:
    Hub &hub_;
    const std::shared_ptr<Host> host_;
};

class MemoryNode final : public NodeTransport {
public:
    MemoryNode(const NodeEnd &node, const MemoryOptions &options);
    ~MemoryNode() override;

    const std::string &endpoint() const override { return endpoint_; }
    std::weak_ptr<Inside> inside() override { return inside_; }
    Message message(size_t bytes) override { return Bytes(bytes); }
    void connect(NodeId node, const std::string &endpoint) override { wires_.connect(node, endpoint); }
    std::unique_ptr<Links> links(const std::string &name, Heartbeats heartbeats) override;
    bool send(NodeId to, Message &&message) override { return wires_.send(to, std::move(message)); }
    bool reply(const std::string &name, Message &&message) override;
    bool receive(Received *received) override;
    Woken wait(int descriptor, double seconds) override;
    void linger(double) override {} // nothing to wait for: the receiver has what was sent

private:
    Hub &hub_;
    const std::shared_ptr<Host> host_;
    const std::shared_ptr<Inside> inside_;
    std::string endpoint_;
    Wires wires_;
};

} // namespace ps
