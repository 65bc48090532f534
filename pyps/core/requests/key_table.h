// The keys of a worker's operations on their way, and what these do with them, so that the next operation waits where
// the order matters.
#pragma once

#include "flat_map.h"

namespace ps {

class KeyTable {
public:
    // Whether an operation on the key must wait for those on their way: only pulls may overtake pulls, and pushes
    // pushes.
    bool conflicts(uint64_t key, uint8_t operation) const {
        const Entry *entry = entries_.find(key);
        return entry && (entry->operation != operation || operation == set);
    }

    void add(uint64_t key, uint8_t operation) {
        Entry &entry = entries_[key];
        entry.operation = operation;
        entry.count++;
    }

    void remove(uint64_t key) {
        if (--entries_.find(key)->count == 0) entries_.erase(key);
    }

private:
    static constexpr uint8_t set = 2;

    struct Entry {
        uint32_t count = 0;
        uint8_t operation = 0;
    };

    FlatMap<Entry> entries_;
};

} // namespace ps
