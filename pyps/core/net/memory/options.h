// What an endpoint "memory://NAME?OPTION=VALUE&..." says: the node's name, and what its network does to messages
// between it and other nodes. Inside of a node everything is as it would be without.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace ps {

struct MemoryOptions {
    std::string name;
    double delay = 0;  // seconds that what comes to the node and its workers takes at least
    double jitter = 0; // and at most so much more; messages of one connection stay in order
    uint64_t backlog = std::numeric_limits<uint64_t>::max(); // messages that may wait for the node on one connection
    std::vector<double> breaks; // seconds after it was bound, ascending: when its connections break
    double cut = std::numeric_limits<double>::infinity(); // from when on nothing comes or goes

    std::string endpoint() const { return "memory://" + name; } // as others name it
};

MemoryOptions parse_memory_endpoint(const std::string &endpoint); // throws PS_EINVAL

} // namespace ps
