// All channels of a node's server. The server's own thread runs the first one; each other channel has a thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "server/channel_thread.h"

namespace ps {

class Channels {
public:
    // `trace` is null if the node keeps none.
    Channels(Segment &segment, Slabs &slabs, NodeTransport &transport, Trace *trace);

    Channel &first() { return *channels_[0]; }
    void start();
    void stop(); // ends the threads; after that the caller runs all channels

    // The following is for the server's own thread.
    void begin_turn(double now) { turn_began_ = now; } // call it before taking messages
    void give(uint32_t channel, Delivery delivery);
    void begin_epoch(const Vigil::Epoch &epoch);
    void deliver(); // takes what other channels left for the first one, and sends what they left to be sent
    void require_working() const; // throws the failure that has ended a channel's thread

private:
    void pass_on(const Channel &from, uint32_t channel, Delivery delivery);
    bool is_busy() const;
    uint32_t next_executor();

    const Doorbell &doorbell_;
    Promises promises_;
    std::vector<std::unique_ptr<Channel>> channels_;
    std::vector<std::unique_ptr<ChannelThread>> threads_; // of all channels but the first
    Intake intake_; // of the first channel
    double turn_began_ = 0;
    uint32_t executor_ = 0; // the channel that got the last request for any channel
};

} // namespace ps
