// How a node joins a cluster that works: it asks the members until an epoch begins in which it is one of them.
#include <chrono>
#include <thread>

#include "errors.h"
#include "node.h"
#include "segment/process.h"
#include "worker/loss.h"

using namespace ps;

namespace {
constexpr auto between_answers = std::chrono::milliseconds(2);
}

void ps_node::begin_to_join(const std::vector<std::string> &endpoints) {
    std::lock_guard<std::mutex> lock(mutex_);
    if (!server_) fail(PS_EINVAL, Where{}, "the node is not bound to an endpoint");
    if (!server_->is_connected()) server_->connect(endpoints);
}

int32_t ps_node::join(const std::vector<std::string> &endpoints, double timeout) {
    const std::shared_ptr<Attachment> attachment = this->attachment();
    Segment &segment = *attachment->segment;
    Header &header = segment.header();
    if (!segment.joins())
        fail(PS_EINVAL, Where{-1, header.node, 0},
             "node %u is one of those with which the cluster starts: connect it, or join with a number from num_nodes "
             "on",
             header.node);
    begin_to_join(endpoints);
    const double end = monotonic_seconds() + timeout, until = std::min(end, monotonic_seconds() + attachment->patience);
    while (header.epoch.load(std::memory_order_acquire) == 0) {
        if (header.ended.load(std::memory_order_acquire)) fail_as_ended(segment);
        if (monotonic_seconds() >= end)
            fail(PS_ETIMEDOUT, Where{-1, header.node, 0},
                 "the nodes did not let node %u in in time: one may be out of reach, or keys lack copies at the moment",
                 header.node);
        if (monotonic_seconds() >= until) return PS_EBUSY;
        std::this_thread::sleep_for(between_answers);
    }
    header.connected.store(1, std::memory_order_release);
    return PS_OK;
}

// Nodes that join, and those that are there then, tell each other by the board of the cluster.
void ps_node::set_metrics(uint32_t number, const std::string &url) {
    const std::shared_ptr<Attachment> attachment = this->attachment();
    Segment &segment = *attachment->segment;
    if (url.size() >= sizeof MemberSlot::metrics)
        fail(PS_EINVAL, Where{-1, int64_t(url.size()), int64_t(sizeof MemberSlot::metrics - 1)},
             "the URL %s is too long", url.c_str());
    if (segment.header().server.pid != Process::self().pid)
        fail(PS_EINVAL, Where{}, "only the process that created the node says where statistics can be read");
    if (!segment.note_metrics(number, url))
        fail(PS_ESTATE, Where{-1, number, 0}, "the URL of node %u is known already", number);
    const bool may_grow = segment.header().places > segment.first().size();
    if (tables_ && may_grow && number == segment.header().node) tables_->tell_metrics(url);
}

int32_t ps_node::take_place(double timeout, int32_t *number) {
    const std::shared_ptr<Attachment> attachment = this->attachment();
    attachment->require_open();
    const Segment &segment = *attachment->segment;
    const std::shared_ptr<Tables> tables = own_tables();
    if (!tables) fail(PS_EINVAL, Where{}, "places are given by the process that created the node");
    std::vector<NodeId> free;
    for (uint32_t node = 0; node < segment.header().places; node++) {
        const MemberSlot &slot = segment.member(node);
        if (slot.state.load(std::memory_order_acquire) == Member::absent && !slot.is_known)
            free.push_back(NodeId(node));
    }
    const std::optional<NodeId> taken = tables->take_place(free, timeout, attachment->patience);
    if (taken) *number = *taken;
    return taken ? PS_OK : PS_EBUSY;
}
