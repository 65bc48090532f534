// The links of a node's vigil over ZeroMQ, whose own threads send and answer the heartbeats.
#pragma once

#include <string>
#include <vector>

#include "net/transport.h"
#include "net/zeromq/connections.h"
#include "net/zeromq/probe.h"

namespace ps {

class ZmqLinks final : public Links {
public:
    ZmqLinks(ZmqContext &context, NodeId num_nodes, const std::string &name, Heartbeats heartbeats,
             ConnectionEvents &messages)
        : links_(context, num_nodes, name, heartbeats), messages_(messages), probes_(num_nodes) {}

    void connect(NodeId node, const std::string &endpoint) override;
    bool send(NodeId to, Message &&message) override { return links_.send(to, std::move(message)); }
    bool receive(Message *message) override { return links_.receive(message); }
    void wait(int descriptor, double seconds) override;
    std::vector<ConnectionEvent> link_events() override { return links_.events().all(); }
    std::vector<ConnectionEvent> message_events() override { return messages_.all(); }
    void probe(NodeId node, double now, double timeout) override { probes_[node].start(now, timeout); }
    bool is_probing(NodeId node) const override { return probes_[node].is_pending(); }
    Reach look(NodeId node, double now) override { return probes_[node].look(now); }

private:
    Connections links_;
    ConnectionEvents &messages_; // what happens to the connections for messages
    std::vector<Probe> probes_;  // by node
};

} // namespace ps
