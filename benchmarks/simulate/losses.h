// What a cluster does when a node is lost: the shipped membership of each node, with messages that take time.
#pragma once

#include <ostream>

#include "costs.h"

namespace ps::simulate {

void lose_a_node(const Settings &settings, std::ostream &out);

} // namespace ps::simulate
