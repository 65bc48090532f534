#include "server/channels.h"

#include <utility>

#include "segment/process.h"

namespace ps {

namespace {
// Seconds that the server's own thread has worked without a rest when it leaves other channels to their threads: it has
// more to do then than it can, and the way from thread to thread pays.
constexpr double busy_after = 50e-6;
} // namespace

Channels::Channels(Segment &segment, Slabs &slabs, NodeTransport &transport, Trace *trace) : promises_(segment) {
    for (uint32_t number = 0; number < segment.header().num_channels; number++) {
        channels_.push_back(std::make_unique<Channel>(number, segment, slabs, promises_, transport, trace));
        if (number > 0) threads_.push_back(std::make_unique<ChannelThread>(segment, *channels_.back()));
    }
}

void Channels::start() {
    for (auto &thread : threads_) thread->start();
}

void Channels::stop() {
    for (auto &thread : threads_) thread->stop();
}

void Channels::give(uint32_t channel, std::string peer, Message &&frame) {
    if (channel == 0)
        first().take(peer, frame.data(), frame.size());
    else
        threads_[channel - 1]->give(std::move(peer), std::move(frame), monotonic_seconds() - turn_began_ < busy_after);
}

void Channels::begin_epoch(const Vigil::Epoch &epoch) {
    first().begin_epoch(epoch);
    for (auto &thread : threads_) thread->begin_epoch(epoch);
}

void Channels::deliver() {
    for (size_t other = 1; other < channels_.size(); other++) channels_[other]->outbound().deliver();
}

void Channels::require_working() const {
    for (auto &thread : threads_) thread->require_working();
}

} // namespace ps
