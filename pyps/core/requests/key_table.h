// Which keys a worker's operations on their way are about, and what they do: so that the next one waits where the order
// matters.
#pragma once

#include "flat_map.h"

namespace ps {

class KeyTable {
public:
    // Whether an operation on the key may go ahead of what is on its way: only the same kind may, and no set.
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
