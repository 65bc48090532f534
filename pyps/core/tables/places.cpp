// The numbers of nodes that are to join. One that was given to a node stands on the board under "place/NUMBER", so that
// no other node gives it again.
#include <utility>

#include "errors.h"
#include "membership/notes.h"
#include "segment/process.h"
#include "tables/tables.h"

namespace ps {

std::optional<NodeId> Tables::take_place(const std::vector<NodeId> &free, double timeout, double patience) {
    const double end = monotonic_seconds() + timeout;
    Lock lock(mutex_);
    std::optional<Taking> mine = std::exchange(taking_, std::nullopt);
    if (mine && !has(free, mine->node)) mine.reset();
    for (NodeId node : free) {
        const std::string name = "place/" + std::to_string(node);
        if (mine ? mine->node != node : board_.find(name) != nullptr) continue;
        if (!mine) {
            const std::string text = std::to_string(self_) + "." + std::to_string(last_id_ + 1);
            mine = Taking{node, text, begin({0, name, text})};
        }
        const Proposal &proposal = *mine->proposal;
        if (!wait(lock, end, patience, [&] { return proposal.is_answered; }, [] { return "no node answered"; })) {
            taking_ = std::move(mine);
            return std::nullopt;
        }
        const Notice *given = board_.find(name);
        if (given && given->text == mine->text) return node;
        mine.reset();
    }
    fail(PS_ESTATE, Where{-1, cluster_.places, 0},
         "the cluster has had nodes for all of its %u places: start it with more", cluster_.places);
}

} // namespace ps
