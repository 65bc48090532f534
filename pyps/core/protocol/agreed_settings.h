// The settings of the rule for pushes, on which all nodes agree: one node's part in it. A node tells the host, which is
// the lowest node that is not lost, what has changed on it; the host tells all others. Each setting by itself has the
// value of its latest change. Barriers have the same host (gate.h), and messages between two nodes keep their order: so
// a change is everywhere when a barrier is over to which its node came after it.
//
// It has no I/O, clock or threads, like the whole protocol.
#pragma once

#include <vector>

#include "messages.h"

namespace ps {

struct SettingChange {
    uint32_t index; // of the setting
    uint64_t version; // a count, then 16 bits for the node that has changed it; 0: never changed. Higher is later
    double value;
};
using SettingChanges = std::vector<SettingChange>;

class AgreedSettings {
public:
    class Port {
    public:
        virtual ~Port() = default;
        virtual void send(NodeId to, const SettingChanges &changes) = 0;
        virtual void adopt(const SettingChange &change) = 0; // another node has changed it
    };

    AgreedSettings(NodeId self, NodeId nodes, uint32_t settings, Port &port);

    void change(SettingChanges changes); // on this node, which has them already; the versions are given here
    void receive(NodeId from, const SettingChanges &changes);
    void lose(NodeId node); // it hears and says nothing from now on
    void join(NodeId node); // it does from now on

private:
    void tell(const SettingChanges &changes, NodeId from);
    SettingChanges known() const;

    const NodeId self_;
    Port &port_;
    NodeId host_ = 0;
    uint64_t count_ = 0; // the highest one of a version that was seen
    std::vector<bool> lost_;
    SettingChanges last_; // by setting: its last change
};

} // namespace ps
