// What must have happened so that everything that was there at one moment has been exchanged: keys that workers of this
// node intend to use have come here, or got a replica here, each replica has exchanged values with its owner once more,
// and keys that lacked backups have them.
#pragma once

#include <vector>

#include "messages.h"

namespace ps {

struct Mark {
    struct Exchange {
        Key key;
        uint32_t number; // the replica's number
        uint64_t sequence; // the owner's value must have the delta of this sequence
    };
    std::vector<Key> coming, lacking; // the latter: keys here that get backups
    std::vector<Exchange> replicas;
};

} // namespace ps
