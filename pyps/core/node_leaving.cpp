// How a node leaves a cluster that goes on: its channels hand its keys over to other nodes (protocol/leaving.cpp), and
// so do those of its tables.
#include <algorithm>
#include <chrono>
#include <thread>

#include "errors.h"
#include "net/peer.h"
#include "node.h"
#include "segment/process.h"
#include "worker/loss.h"

using namespace ps;

namespace {

constexpr auto between_looks = std::chrono::milliseconds(2);

void require_others(const Segment &segment) {
    const Header &header = segment.header();
    if (header.nobody_stays.load(std::memory_order_acquire))
        fail(PS_ESTATE, Where{}, "all other nodes leave as well, so none is left that could take the keys");
    for (NodeId node = 0; node < header.places; node++)
        if (node != header.node && segment.member(node).state.load(std::memory_order_acquire) == Member::here) return;
    fail(PS_ESTATE, Where{}, "no other node is left that could take the keys: shut this one down");
}

// How many keys are still here.
uint64_t keys_left(const std::vector<std::shared_ptr<Segment>> &segments) {
    uint64_t keys = 0;
    for (const auto &segment : segments) keys += segment->header().keys_held.load(std::memory_order_relaxed);
    return keys;
}

bool is_gone(const Segment &segment) {
    const Header &header = segment.header();
    return header.channels_gone.load(std::memory_order_acquire) == header.num_channels;
}

bool is_refused(const Segment &segment) {
    const uint32_t leaves = segment.header().leaves.load(std::memory_order_acquire);
    return leaves && segment.header().refused_at.load(std::memory_order_acquire) == leaves;
}

// If it was not told before, or was refused since.
void tell_to_leave(Segment &segment) {
    if (segment.header().leaves.load(std::memory_order_acquire) && !is_refused(segment)) return;
    segment.header().leaves.fetch_add(1, std::memory_order_acq_rel);
    segment.doorbell().ring();
}

} // namespace

int32_t ps_node::hand_over(double timeout) {
    std::unique_lock<std::mutex> alone(leave_mutex_, std::try_to_lock);
    if (!alone) fail(PS_EINVAL, Where{}, "another thread shuts this node down");
    const std::shared_ptr<Attachment> attachment = this->attachment();
    const Header &header = attachment->segment->header();
    if (!is_creator()) fail(PS_EINVAL, Where{}, "a node is told to leave by the process that created it");
    require_others(*attachment->segment);
    if (header.replicas == 0)
        fail(PS_EINVAL, Where{}, "a node can leave only where keys have replicas: create the nodes with replicas=1");
    const std::vector<std::shared_ptr<Segment>> segments = this->segments(); // which requires that it is connected
    end_workers();
    for (const auto &segment : segments) tell_to_leave(*segment);
    const double end = monotonic_seconds() + timeout;
    const double until = std::min(end, monotonic_seconds() + attachment->patience);
    for (;;) {
        for (const auto &segment : segments) {
            if (segment->header().ended.load(std::memory_order_acquire)) fail_as_ended(*segment);
            if (is_refused(*segment))
                fail(PS_ENOMEM, Where{}, "another node has no room for the keys that are here, of which %llu are left",
                     static_cast<unsigned long long>(keys_left(segments)));
        }
        if (std::all_of(segments.begin(), segments.end(), [](const auto &segment) { return is_gone(*segment); }))
            return PS_OK;
        require_others(*attachment->segment);
        if (monotonic_seconds() >= end)
            fail(PS_ETIMEDOUT, Where{}, "%llu keys are still here; the node works on, and goes on to hand them over",
                 static_cast<unsigned long long>(keys_left(segments)));
        if (monotonic_seconds() >= until) return PS_EBUSY;
        std::this_thread::sleep_for(between_looks);
    }
}
