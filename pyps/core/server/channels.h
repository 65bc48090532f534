// All channels of a node's server. The first one is run by the server's own thread, each of the others has a thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/channel_thread.h"

namespace ps {

class Channels {
public:
    // `trace` may be null: the node keeps none.
    Channels(Segment &segment, Slabs &slabs, NodeTransport &transport, Trace *trace);

    Channel &first() { return *channels_[0]; }
    void start();
    void stop(); // from then on the caller runs them all

    // The rest is for the server's own thread.
    void begin_turn(double now) { turn_began_ = now; } // some messages may follow
    void give(uint32_t channel, Delivery delivery);
    void begin_epoch(const Vigil::Epoch &epoch);
    void deliver(); // what the others left for the first one, and to be sent
    void require_working() const; // throws what has ended one

private:
    void pass_on(const Channel &from, uint32_t channel, Delivery delivery);
    bool is_busy() const;
    uint32_t next_executor();

    const Doorbell &doorbell_;
    Promises promises_;
    std::vector<std::unique_ptr<Channel>> channels_;
    std::vector<std::unique_ptr<ChannelThread>> threads_; // of all but the first
    Intake intake_; // of the first one
    double turn_began_ = 0;
    uint32_t executor_ = 0; // of the last request for any channel
};

} // namespace ps
