// An operation of a simulated worker, as the test itself follows it: what was sent, what was answered, what must come
// of it.
#pragma once

#include "memory.h"

namespace ps::clients {

struct Record {
    Operation operation{};
    std::vector<Key> keys; // all, also those that were done at once
    std::vector<Plan> plans;
    std::vector<uint64_t> offsets; // of each key's value in the memory
    std::vector<size_t> positions; // of the keys that were sent, by the positions that messages name
    std::vector<bool> answered;    // of each of them
    size_t memory = 0;             // its number
    uint64_t begin = 0, end = 0;   // of all its values there
    uint64_t bytes = 0;            // that are on their way
    bool abandoned = false, given_up = false;
    NodeId failed = no_node; // by this node, when it ends

    Key key(size_t position) const { return keys[positions[position]]; }
    uint64_t offset(size_t position) const { return offsets[positions[position]]; }
    bool has_ended() const { return given_up || std::find(answered.begin(), answered.end(), false) == answered.end(); }
    bool fills(size_t number, uint64_t from, uint64_t to) const {
        return operation == Operation::pull && !abandoned && memory == number && begin < to && from < end;
    }
    bool has_unanswered(Key wanted) const {
        for (size_t i = 0; i < answered.size(); i++)
            if (!answered[i] && key(i) == wanted) return true;
        return false;
    }
};

} // namespace ps::clients
