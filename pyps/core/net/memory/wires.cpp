#include "net/memory/wires.h"

#include <utility>

namespace ps {

Wires::~Wires() {
    std::vector<std::shared_ptr<Wire>> made;
    for (auto &wire : wires_)
        if (wire) made.push_back(std::move(wire));
    hub_.remove(made);
}

void Wires::connect(NodeId node, const std::string &endpoint) {
    auto wire = std::make_shared<Wire>();
    wire->name = end_.name;
    wire->endpoint = endpoint;
    wire->node = node;
    wire->heartbeats = end_.heartbeats;
    wire->longest = end_.longest;
    wire->is_for_messages = are_for_messages_;
    wire->home = home_;
    wire->maker = &maker_;
    hub_.add(wire);
    wires_[node] = std::move(wire);
}

bool Wires::send(NodeId to, Message &&message) {
    if (!has(to)) return false;
    hub_.send(wires_[to], std::move(message));
    return true;
}

} // namespace ps
