// What a node is created with: whether that is possible, and what stands for options that are left out.
#pragma once

#include "ps.h"

namespace ps {

void check_options(const ps_node_options &options); // throws PS_EINVAL
int32_t places_of(const ps_node_options &options); // for nodes
double heartbeat_of(const ps_node_options &options); // seconds
double lost_after_of(const ps_node_options &options); // seconds

} // namespace ps
