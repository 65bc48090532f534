// What a node's server does about settings of the rule for pushes: it looks in shared memory which of them processes of
// this node have changed, tells other nodes, and writes what it hears from these. Belongs to the server's thread.
#pragma once

#include <functional>

#include "protocol/agreed_settings.h"
#include "segment/segment.h"
#include "wire/settings.h"

namespace ps {

class Tuning : private AgreedSettings::Port {
public:
    using Send = std::function<void(NodeId to, Bytes message)>;

    Tuning(Segment &segment, Send send);

    void look(); // call it when the doorbell rang, and before this node tells others that it has come to a barrier
    bool are_known() const { return agreed_.are_known(); } // whether it may come to one
    void repeat() { agreed_.repeat(); }
    void receive(NodeId from, const SettingsMessage &message); // throws Malformed
    void lose(NodeId node) { agreed_.lose(node); }
    void join(NodeId node) { agreed_.join(node); }

private:
    void send(NodeId to, const SettingNews &news) override;
    void adopt(const SettingChange &change) override;

    Segment &segment_;
    const FrameHeader header_;
    Send send_;
    AgreedSettings agreed_;
};

} // namespace ps
