// The settings of the rule for pushes, on which all nodes agree: one node's part in it. A node tells the host, which is
// the lowest node that is not lost, what has changed on it; the host tells all others. Each setting by itself has the
// value of its latest change. Who is told answers, and a node comes to a barrier when all that it has told have
// answered. Barriers have the same host (gate.h): so a change is everywhere when a barrier is over to which its node
// came after it, also at a node to which the messages of another one's workers find a faster way than those of the
// host.
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

struct SettingNews {
    uint64_t serial; // of the message, by its sender; from 1
    SettingChanges changes; // none: the answer to the message with the serial
};

class AgreedSettings {
public:
    class Port {
    public:
        virtual ~Port() = default;
        virtual void send(NodeId to, const SettingNews &news) = 0;
        virtual void adopt(const SettingChange &change) = 0; // another node has changed it
    };

    AgreedSettings(NodeId self, NodeId nodes, uint32_t settings, Port &port);

    void change(SettingChanges changes); // on this node, which has them already; the versions are given here
    void receive(NodeId from, const SettingNews &news);
    bool are_known() const { return unanswered_ == 0; } // whether all that were told of changes have answered
    void repeat(); // tells those that have not, as a message may be lost
    void lose(NodeId node); // it hears and says nothing from now on
    void join(NodeId node); // it does from now on

private:
    void tell(const SettingChanges &changes, NodeId from);
    void tell_one(NodeId to, const SettingChanges &changes);
    void await(NodeId node, uint64_t serial);
    SettingChanges known() const;

    const NodeId self_;
    Port &port_;
    NodeId host_ = 0;
    uint64_t count_ = 0; // the highest one of a version that was seen
    std::vector<bool> lost_;
    uint64_t serial_ = 0; // of the last message
    std::vector<uint64_t> awaited_; // by node: the message to it that is to be answered, or 0
    NodeId unanswered_ = 0; // how many of these there are
    SettingChanges last_; // by setting: its last change
};

} // namespace ps
