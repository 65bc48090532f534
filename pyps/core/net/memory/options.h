// The parts of an endpoint "memory://NAME?OPTION=VALUE&...": the node's name, and what happens to messages between this
// node and others. Messages inside of a node are not affected.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace ps {

struct MemoryOptions {
    std::string name;
    double delay = 0; // seconds that each message to the node and its workers takes at least
    double jitter = 0; // seconds of random delay on top of that; messages of one connection stay in order
    std::string beside; // name of another node of this process, whose delay and jitter are those of this one
    uint64_t backlog = std::numeric_limits<uint64_t>::max(); // messages that may wait for the node on one connection
    std::vector<double> breaks; // when the node's connections break: seconds after it was bound, ascending
    // When the node is cut off from the others: seconds after it was bound.
    double cut = std::numeric_limits<double>::infinity();

    std::string endpoint() const { return "memory://" + name; } // what other nodes connect to
};

MemoryOptions parse_memory_endpoint(const std::string &endpoint); // throws PS_EINVAL

} // namespace ps
