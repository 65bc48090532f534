// How much a worker may have on its way to other nodes, so that a slow or stopped node does not cost it more and more
// memory. An operation that does not fit waits for earlier ones. The bytes are those of keys and values, in whichever
// direction the values go.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ps {

constexpr int64_t default_in_flight = int64_t(64) << 20; // bytes
constexpr size_t most_in_flight = 4096;                  // operations

class InFlight {
public:
    explicit InFlight(uint64_t limit) : limit_(limit) {}

    // An operation that is larger than the limit has room when nothing else is on its way.
    bool has_room(uint64_t bytes) const {
        return count_ == 0 || (count_ < most_in_flight && bytes_ <= limit_ && bytes <= limit_ - bytes_);
    }
    void add(uint64_t bytes) {
        count_++;
        bytes_ += bytes;
    }
    void remove(uint64_t bytes) {
        count_--;
        bytes_ -= bytes;
    }
    void clear() { count_ = bytes_ = 0; }
    size_t count() const { return count_; }
    uint64_t bytes() const { return bytes_; }
    uint64_t limit() const { return limit_; }

private:
    uint64_t limit_;
    size_t count_ = 0;
    uint64_t bytes_ = 0;
};

} // namespace ps
