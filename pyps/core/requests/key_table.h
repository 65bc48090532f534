// The keys of a worker's operations on their way, and what these do with them, so that the next operation waits where
// the order matters.
#pragma once

#include <algorithm>

#include "flat_map.h"
#include "protocol/messages.h"

namespace ps {

class KeyTable {
public:
    // Whether an operation on the key may not overtake those on their way: only pulls may overtake pulls, and pushes
    // pushes.
    bool conflicts(uint64_t key, Operation operation) const {
        const Entry *entry = entries_.find(key);
        return entry && (operation == Operation::set || entry->all() > entry->count[kind_of(operation)]);
    }

    // Whether all of them are pulls and pushes that went to the key's home.
    bool are_all_at_home(uint64_t key) const {
        const Entry *entry = entries_.find(key);
        return !entry || (!entry->strays && entry->count[others] == 0);
    }

    void add(uint64_t key, Operation operation, bool strays) { // strays: it went to another node than the home
        Entry &entry = entries_[key];
        entry.count[kind_of(operation)]++;
        entry.strays |= strays;
    }

    void remove(uint64_t key, Operation operation) {
        Entry *entry = entries_.find(key);
        entry->count[kind_of(operation)]--;
        if (entry->all() == 0) entries_.erase(key);
    }

private:
    static constexpr int others = 2, kinds = 3;
    static constexpr int kind_of(Operation operation) { return std::min(int(operation), others); }

    struct Entry {
        uint32_t count[kinds] = {}; // pulls, pushes, others
        bool strays = false; // one did, though it may have ended
        uint32_t all() const { return count[0] + count[1] + count[others]; }
    };

    FlatMap<Entry> entries_;
};

} // namespace ps
