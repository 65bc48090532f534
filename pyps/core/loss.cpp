#include "loss.h"

#include <cstdio>

#include "barrier.h"
#include "errors.h"

namespace ps {

void end_node(Segment &segment, State state, uint32_t node, const std::string &why) {
    Header &header = segment.header();
    if (header.ending.exchange(1)) return;
    header.lost_node = node;
    std::snprintf(header.failure, sizeof header.failure, "%s", why.c_str());
    header.ended.store(1, std::memory_order_release);
    State open = State::open;
    header.state.compare_exchange_strong(open, state, std::memory_order_acq_rel);
    wake_barriers(segment);
    segment.doorbell().ring();
}

void fail_as_ended(const Segment &segment) {
    const Header &header = segment.header();
    switch (header.state.load(std::memory_order_acquire)) {
    case State::failed:
        fail(PS_ELOST, Where{-1, header.lost_node, 0}, "the node's server ended: %s", header.failure);
    case State::lost: fail(PS_ELOST, Where{-1, header.lost_node, 0}, "%s", header.failure);
    default: fail(PS_ECLOSED, Where{}, "the server was shut down");
    }
}

void require_nobody_left(const Segment &segment) {
    uint32_t parted = segment.header().parted.load(std::memory_order_acquire);
    if (parted)
        fail(PS_ELOST, Where{-1, int64_t(parted) - 1, 0}, "node %u has shut down: what needs other nodes is over",
             parted - 1);
}

} // namespace ps
