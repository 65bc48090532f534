// Of which clusters this very process serves nodes. A node that ends does not wait for the others while there is
// another one here that has not come to its end: it may be for the same thread to end that next.
#pragma once

#include <cstdint>

namespace ps {

void serve_here(uint64_t cluster);
void serve_no_more(uint64_t cluster);
bool is_served_here(uint64_t cluster);

} // namespace ps
