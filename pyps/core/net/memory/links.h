// The links of a node's vigil inside of one process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net/memory/wires.h"

namespace ps {

class MemoryLinks final : public Links {
public:
    MemoryLinks(Hub &hub, std::shared_ptr<Host> host, const End &end);
    ~MemoryLinks() override;

    void connect(NodeId node, const std::string &endpoint) override { wires_.connect(node, endpoint); }
    bool send(NodeId to, Message &&message) override { return wires_.send(to, std::move(message)); }
    bool receive(Message *message) override { return hub_.receive(party_, message, nullptr); }
    void wait(int descriptor, double seconds) override { hub_.wait(party_, descriptor, seconds); }
    std::vector<ConnectionEvent> link_events() override { return hub_.take_events(party_.events); }
    std::vector<ConnectionEvent> message_events() override { return hub_.take_events(party_.message_events); }
    void probe(NodeId node, double now, double timeout) override { probes_[node] = {true, now + timeout}; }
    bool is_probing(NodeId node) const override { return probes_[node].is_pending; }
    Reach look(NodeId node, double now) override;

private:
    struct Probe {
        bool is_pending = false;
        double end = 0;
    };

    Hub &hub_;
    const std::shared_ptr<Host> host_;
    Party party_;
    std::vector<Probe> probes_; // by node
    Wires wires_;
};

} // namespace ps
