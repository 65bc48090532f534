// The barriers across nodes, on a node's server. It looks in shared memory which workers of this node have come, tells
// the other nodes through a Gate for each barrier, when they know the settings that were changed here before, and
// releases the waiting workers. Belongs to the server's thread.
#pragma once

#include <functional>

#include "segment/segment.h"
#include "server/tuning.h"
#include "wire/barriers.h"

namespace ps {

class Gates {
public:
    using Send = std::function<void(NodeId to, Bytes message)>;

    Gates(Segment &segment, Tuning &tuning, Send send);

    void look(); // call it when the doorbell rang, and now and then while a worker waits
    void receive(NodeId from, const AttendMessage &message);
    void receive(NodeId from, const OpenedMessage &message);
    void meet(NodeId node); // the node has begun to work
    void lose(NodeId node); // from now on nothing waits for the node
    void join(NodeId node);
    bool is_anybody_waiting() const; // if so, look every `look_again_after` seconds

    static constexpr double look_again_after = 0.05, repeat_after = 1.0;

private:
    struct Entrance : Gate::Post {
        Entrance(Gates &gates, Barriers barrier, Rounds &rounds);
        void send(NodeId to, const Attend &message) override;
        void send(NodeId to, const Opened &message) override;

        Gates &gates;
        const Barriers barrier;
        Gate gate;
        Rounds &rounds; // the word that waiting workers look at
    };

    Entrance &entrance(Barriers barrier) {
        return barrier == Barriers::workers ? workers_ : barrier == Barriers::nodes ? nodes_ : leave_;
    }
    void look(Entrance &at);
    Attendance attendance(const Entrance &at);
    Attendance arrivals(const Entrance &at) const;
    bool let_go(Entrance &at);
    void leave();

    Segment &segment_;
    Tuning &tuning_;
    const FrameHeader header_;
    Send send_;
    Entrance workers_, nodes_, leave_;
    std::vector<bool> met_;
    bool is_leaving_ = false;
    double last_reclaim_ = 0, last_repeat_ = 0;
};

} // namespace ps
