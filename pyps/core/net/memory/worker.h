// A worker's transport inside of one process.
#pragma once

#include <memory>
#include <vector>

#include "net/memory/wires.h"

namespace ps {

class MemoryWorker final : public WorkerTransport {
public:
    MemoryWorker(Hub &hub, std::shared_ptr<Host> host, const WorkerEnd &worker)
        : hub_(hub), endpoint_of_(worker.endpoint_of), wires_(hub, std::move(host), party_, worker.end) {}

    Message message(size_t bytes) override { return Bytes(bytes); }
    void reach(NodeId node) override;
    void send(NodeId to, Message &&message, bool expects_nothing) override;
    bool receive(Message *message) override { return hub_.receive(party_, message, nullptr); }
    bool wait(double seconds) override { return hub_.wait(party_, -1, seconds).news; }
    std::vector<NodeId> broken() override;

private:
    Hub &hub_;
    const std::function<std::string(NodeId)> endpoint_of_;
    Party party_;
    Wires wires_;
};

} // namespace ps
