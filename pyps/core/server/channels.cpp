#include "server/channels.h"

#include <utility>

#include "segment/process.h"

namespace ps {

namespace {
// Seconds without a rest after which the server's own thread no longer runs other channels. It then has more work than
// it can do, so it is worth the cost of passing messages to their threads.
constexpr double busy_after = 50e-6;
constexpr bool may_run = true;
} // namespace

Channels::Channels(Segment &segment, Slabs &slabs, NodeTransport &transport, Trace *trace)
    : doorbell_(segment.doorbell()), promises_(segment) {
    const uint64_t cluster = segment.header().cluster;
    for (uint32_t number = 0; number < segment.header().num_channels; number++) {
        auto to_others = [this, number, cluster](uint32_t channel, NodeId node, uint32_t worker, Bytes request) {
            Sender sender{Sender::Role::worker, node, worker};
            pass_on(*channels_[number], channel,
                    Delivery{name_of_worker(node, worker, cluster), sender, std::move(request)});
        };
        channels_.push_back(std::make_unique<Channel>(number, segment, slabs, promises_, transport, trace, to_others));
        if (number > 0) threads_.push_back(std::make_unique<ChannelThread>(segment, *channels_.back()));
    }
}

void Channels::start() {
    for (auto &thread : threads_) thread->start();
}

void Channels::stop() {
    for (auto &thread : threads_) thread->stop();
    deliver();
}

bool Channels::is_busy() const { return monotonic_seconds() - turn_began_ > busy_after; }

// Which channel gets a request for any channel: the first one, or all in turn when there is much to do.
uint32_t Channels::next_executor() {
    if (!is_busy()) return 0;
    executor_ = (executor_ + 1) % uint32_t(channels_.size());
    return executor_;
}

void Channels::give(uint32_t channel, Delivery delivery) {
    if (channel == any_channel) channel = next_executor();
    if (channel == 0)
        delivery.to(first());
    else
        threads_[channel - 1]->give(std::move(delivery), !is_busy());
}

// The first channel always gets it later, as it may be in the middle of its own work while another channel calls this.
void Channels::pass_on(const Channel &from, uint32_t channel, Delivery delivery) {
    if (channel == 0) {
        if (intake_.leave(std::move(delivery))) doorbell_.ring();
    } else if (from.outbound().has_transport()) {
        threads_[channel - 1]->give(std::move(delivery), may_run);
    } else {
        threads_[channel - 1]->leave(std::move(delivery));
    }
}

void Channels::begin_epoch(const Vigil::Epoch &epoch) {
    first().begin_epoch(epoch);
    for (auto &thread : threads_) thread->leave(epoch);
}

void Channels::deliver() {
    for (const Intake::Item &item : intake_.take()) std::get<Delivery>(item).to(first());
    for (size_t other = 1; other < channels_.size(); other++) channels_[other]->outbound().deliver();
}

void Channels::require_working() const {
    for (auto &thread : threads_) thread->require_working();
}

} // namespace ps
