// Whether a node's memory limit has room for keys. This is checked before the node asks for them: once a key's home
// knows that it is to live here, it must come.
#pragma once

#include <cstdint>
#include <vector>

#include "segment/segment.h"

namespace ps {

enum class Kept { alone, shared }; // alone: only this node has the value; shared: others have replicas

// Bytes that are to come. Where keys may be any numbers, it is known how many of each length: free slots of one length
// are of no use to another.
class Load {
public:
    explicit Load(const Segment &segment) {
        const Header &header = segment.header();
        if (!header.is_range() && header.num_classes > 1) by_class_.resize(header.num_classes);
    }
    void add(uint32_t length_class, uint64_t bytes) {
        bytes_ += bytes;
        if (!by_class_.empty()) by_class_[length_class] += bytes;
    }
    uint64_t bytes() const { return bytes_; }
    uint64_t of(uint32_t length_class) const { return by_class_.empty() ? bytes_ : by_class_[length_class]; }
    bool is_classed() const { return !by_class_.empty(); }

private:
    uint64_t bytes_ = 0;
    std::vector<uint64_t> by_class_; // empty: there is one length, or a range
};

// Whether there is room for such values, in free slots or in new slabs, beside `promised` bytes of any length; always
// true without a limit.
bool has_room(Segment &segment, Kept kept, const Load &coming, uint64_t promised = 0);

// What the limit counts: shared memory, and beside it the copies of other nodes' keys and the counts of uses.
uint64_t used_memory(const Segment &segment);

// The values of those keys that are not here.
Load load_of_absent(const Segment &segment, const uint64_t *keys, uint64_t num_keys);

} // namespace ps
