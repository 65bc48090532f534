// What stands on the board under a table's name: its options, and the nodes that make it together. Nodes that become
// members later join it.
#pragma once

#include <string>
#include <vector>

#include "protocol/messages.h"

namespace ps {

NodeId read_node(const std::string &text, NodeId places); // throws Malformed

struct Declaration {
    std::string options; // see TableOptions
    std::vector<NodeId> first; // in ascending order

    std::string text() const; // "capacity=1000 lengths=8 ...|0-2,5"
    static Declaration read(const std::string &text, NodeId places); // throws Malformed
};

} // namespace ps
