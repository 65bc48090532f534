#include "worker/loss.h"

#include <cstdio>

#include "errors.h"
#include "membership/notes.h"

namespace ps {

namespace {

// Who writes Header::failure, in Header::ending.
constexpr uint32_t by_nobody = 0, by_ending = 1, by_closing = 2;

bool is_closed_for_a_reason(const Segment &segment) {
    return segment.header().ending.load(std::memory_order_acquire) == by_closing && !segment.is_open();
}

} // namespace

std::string describe_loss(const Segment &segment, uint32_t node) {
    const Header &header = segment.header();
    const MemberSlot &slot = segment.member(node);
    std::string name = "node " + std::to_string(node), other = "node " + std::to_string(slot.by.load());
    char after[32];
    std::snprintf(after, sizeof after, "%g s", header.lost_after);
    switch (Evidence(slot.evidence.load(std::memory_order_relaxed))) {
    case Evidence::refused: return name + " was lost: its process has ended";
    case Evidence::silent:
        return name + " was lost: it has not been heard of for about " + after + " (killed, stopped or cut off)";
    case Evidence::failed: return name + " was lost: its server ended";
    case Evidence::left: return name + " has shut down";
    case Evidence::minority:
        return name + " was lost, and this node, " + std::to_string(header.node) +
               ", sees too few of the others to go on: they may go on without it";
    case Evidence::broken:
        return name + " was lost: the connection between it and this node, " + std::to_string(header.node) +
               ", broke, and messages with it";
    case Evidence::told: break;
    }
    if (node != header.node) return name + " was lost, says " + other;
    return "this node, " + std::to_string(node) + ", was declared lost by " + other +
           ": it had not been heard of for about " + after +
           " (stopped? cut off?) or a connection to it broke, and is no member any more";
}

// Keys with copies are lost only with several nodes.
static std::string describe_lost_keys(const Segment &segment) {
    std::string lost;
    for (uint32_t node = 0; node < segment.header().places; node++)
        if (segment.member(node).state.load(std::memory_order_acquire) == Member::lost)
            lost += (lost.empty() ? "" : ", ") + std::to_string(node);
    return ". Keys are gone, as nodes " + lost + " were lost before keys had new copies, and replicas is " +
           std::to_string(segment.header().replicas) + ": start the nodes anew and load the last checkpoint";
}

void fail_lost(const Segment &segment, uint32_t node) {
    if (is_closed_for_a_reason(segment)) fail_as_ended(segment); // the others have closed it as well, and left
    const std::string keys = segment.header().replicas ? describe_lost_keys(segment) : "";
    fail(PS_ELOST, Where{-1, node, 0}, "%s%s", describe_loss(segment, node).c_str(), keys.c_str());
}

void end_node(Segment &segment, State state, uint32_t node, const std::string &why) {
    Header &header = segment.header();
    uint32_t before = by_nobody;
    if (!header.ending.compare_exchange_strong(before, by_ending)) return;
    header.lost_node = node;
    std::snprintf(header.failure, sizeof header.failure, "%s", why.c_str());
    header.ended.store(1, std::memory_order_release);
    State open = State::open;
    header.state.compare_exchange_strong(open, state, std::memory_order_acq_rel);
    segment.wake_barriers();
    segment.doorbell().ring();
}

void close_node(Segment &segment, const std::string &why) {
    Header &header = segment.header();
    uint32_t before = by_nobody;
    if (!why.empty() && header.ending.compare_exchange_strong(before, by_closing))
        std::snprintf(header.failure, sizeof header.failure, "%s", why.c_str());
    State open = State::open;
    header.state.compare_exchange_strong(open, State::closed, std::memory_order_acq_rel);
    segment.wake_barriers();
}

void fail_as_ended(const Segment &segment) {
    const Header &header = segment.header();
    switch (header.state.load(std::memory_order_acquire)) {
    case State::failed: fail(PS_ELOST, Where{-1, header.lost_node, 0}, "the node's server ended: %s", header.failure);
    case State::lost: fail(PS_ELOST, Where{-1, header.lost_node, 0}, "%s", header.failure);
    default:
        fail(PS_ECLOSED, Where{}, "%s", is_closed_for_a_reason(segment) ? header.failure : "the server was shut down");
    }
}

void require_nobody_left(const Segment &segment) {
    uint32_t parted = segment.header().parted.load(std::memory_order_acquire);
    if (parted && is_closed_for_a_reason(segment)) fail_as_ended(segment);
    if (parted)
        fail(PS_ELOST, Where{-1, int64_t(parted) - 1, 0}, "node %u has shut down: what needs other nodes is over",
             parted - 1);
}

} // namespace ps
