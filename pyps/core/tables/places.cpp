// The numbers of nodes that are to join. One that was given to a node stands on the board under "place/NUMBER", so that
// no other node gives it again.
#include "errors.h"
#include "membership/notes.h"
#include "segment/process.h"
#include "tables/tables.h"

namespace ps {

std::optional<NodeId> Tables::take_place(const std::vector<NodeId> &free, double timeout, double patience) {
    const double end = monotonic_seconds() + timeout;
    Lock lock(mutex_);
    if (taking_ && !has(free, taking_->node)) taking_.reset();
    for (NodeId node : free) {
        const std::string name = "place/" + std::to_string(node);
        if (taking_ ? taking_->node != node : board_.find(name) != nullptr) continue;
        if (!taking_) { // else an earlier call has begun to take it, and its patience was over
            const std::string text = std::to_string(self_) + "." + std::to_string(last_id_ + 1);
            taking_ = Taking{node, text, begin({0, name, text})};
        }
        const Taking taking = *taking_;
        if (!wait(lock, end, patience, [&] { return taking.proposal->is_answered; }, [] { return "no node answered"; }))
            return std::nullopt;
        taking_.reset();
        const Notice *given = board_.find(name);
        if (given && given->text == taking.text) return node;
    }
    fail(PS_ESTATE, Where{-1, cluster_.places, 0},
         "the cluster has had nodes for all of its %u places: start it with more", cluster_.places);
}

} // namespace ps
