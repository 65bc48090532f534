// What was seen in a run, as JSON.
#pragma once

#include <memory>
#include <ostream>
#include <vector>

#include "player.h"

namespace ps::simulate {

void report(const Cluster &cluster, const Meeting &meeting, const std::vector<std::unique_ptr<Player>> &players,
            double took, std::ostream &out);

} // namespace ps::simulate
