// The clusters of which this process serves nodes. A node that ends does not wait for the other nodes while this
// process serves another one of its cluster that has not come to its end: the same thread may have to end that one
// next.
#pragma once

#include <cstdint>

namespace ps {

void serve_here(uint64_t cluster);
void serve_no_more(uint64_t cluster);
bool is_served_here(uint64_t cluster);

} // namespace ps
