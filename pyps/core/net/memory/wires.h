// The wires of one party inside of one process: a server, a vigil or a worker.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net/memory/hub.h"

namespace ps {

// Each leads to a node.
class Wires {
public:
    Wires(Hub &hub, std::shared_ptr<Host> home, Party &maker, const End &end, bool are_for_messages = false)
        : hub_(hub), home_(std::move(home)), maker_(maker), end_(end), are_for_messages_(are_for_messages),
          wires_(end.num_nodes) {}
    Wires(const Wires &) = delete;
    Wires &operator=(const Wires &) = delete;
    ~Wires();

    void connect(NodeId node, const std::string &endpoint);
    bool has(NodeId node) const { return wires_[node] != nullptr; }
    bool send(NodeId to, Message &&message); // false: there is no wire to it
    const End &end() const { return end_; }
    const std::string &endpoint(NodeId node) const { return wires_[node]->endpoint; }

private:
    Hub &hub_;
    const std::shared_ptr<Host> home_;
    Party &maker_;
    const End end_;
    const bool are_for_messages_;
    std::vector<std::shared_ptr<Wire>> wires_; // by node
};

} // namespace ps
