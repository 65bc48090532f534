// What must have happened before everything of one moment has been exchanged: keys that workers of this node intend to
// use are here or have a replica here, and each replica has met its owner's value once more.
#pragma once

#include <vector>

#include "messages.h"

namespace ps {

struct Mark {
    struct Exchange {
        Key key;
        uint32_t number;   // of the replica
        uint64_t sequence; // of the delta that the owner's value must have
    };
    std::vector<Key> coming;
    std::vector<Exchange> replicas;
};

} // namespace ps
