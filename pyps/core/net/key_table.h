// Which keys a worker's operations on their way are about, and what they do: so that the next one waits where the order
// matters. Linear probing in a power of two, at most half full.
#pragma once

#include <cstdint>
#include <vector>

namespace ps {

class KeyTable {
public:
    bool empty() const { return used_ == 0; }

    // Whether an operation on the key may go ahead of what is on its way: only the same kind may, and no set.
    bool conflicts(uint64_t key, uint8_t operation) const {
        const Entry *entry = find(key);
        return entry && (entry->operation != operation || operation == set);
    }

    void add(uint64_t key, uint8_t operation) {
        if (2 * (used_ + 1) > entries_.size()) grow();
        Entry &entry = entries_[place(key)];
        if (entry.count == 0) used_++;
        entry.key = key;
        entry.operation = operation;
        entry.count++;
    }

    void remove(uint64_t key) {
        uint64_t at = place(key);
        if (--entries_[at].count > 0) return;
        used_--;
        const uint64_t mask = entries_.size() - 1;
        for (uint64_t next = (at + 1) & mask; entries_[next].count; next = (next + 1) & mask) {
            uint64_t ideal = hash(entries_[next].key);
            if (((next - ideal) & mask) < ((next - at) & mask)) continue;
            entries_[at] = entries_[next];
            entries_[next].count = 0;
            at = next;
        }
    }

private:
    static constexpr uint8_t set = 2;

    struct Entry {
        uint64_t key = 0;
        uint32_t count = 0; // 0: free
        uint8_t operation = 0;
    };

    uint64_t hash(uint64_t key) const { return (key * 0x9e3779b97f4a7c15) >> shift_; }
    uint64_t place(uint64_t key) const {
        uint64_t at = hash(key);
        while (entries_[at].count && entries_[at].key != key) at = (at + 1) & (entries_.size() - 1);
        return at;
    }
    const Entry *find(uint64_t key) const {
        if (entries_.empty()) return nullptr;
        const Entry &entry = entries_[place(key)];
        return entry.count ? &entry : nullptr;
    }
    void grow() {
        std::vector<Entry> old = std::move(entries_);
        entries_.assign(old.empty() ? 64 : 2 * old.size(), Entry{});
        shift_ = 64 - __builtin_ctzll(entries_.size());
        for (const Entry &entry : old)
            if (entry.count) entries_[place(entry.key)] = entry;
    }

    std::vector<Entry> entries_;
    uint64_t used_ = 0;
    int shift_ = 63;
};

} // namespace ps
