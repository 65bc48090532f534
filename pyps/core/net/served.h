// The endpoints that nodes of this very process are bound to. A node that ends does not wait while there are others
// here that have not come to their end: it may be for the same thread to end them next.
#pragma once

#include <string>
#include <vector>

namespace ps {

void serve_here(const std::string &endpoint);
void serve_no_more(const std::string &endpoint);
bool is_served_here(const std::vector<std::string> &endpoints); // any of them

} // namespace ps
