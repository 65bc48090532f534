// The memory that pulls on their way write to. No two of these ranges overlap.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>

namespace ps {

class Buffers {
public:
    void add(const char *begin, uint64_t bytes, int64_t timestamp) { filled_[begin] = {begin + bytes, timestamp}; }
    void remove(const char *begin) { filled_.erase(begin); } // if a pull writes there
    void clear() { filled_.clear(); }

    // The pull that writes to this memory, or -1.
    int64_t filling(const char *begin, uint64_t bytes) const {
        if (filled_.empty() || bytes == 0) return -1;
        auto next = filled_.lower_bound(begin + bytes);
        if (next == filled_.begin()) return -1;
        const Filled &last = std::prev(next)->second;
        return last.end > begin ? last.timestamp : -1;
    }

private:
    struct Filled {
        const char *end;
        int64_t timestamp;
    };
    std::map<const char *, Filled> filled_; // by the first address
};

} // namespace ps
