// In which form compressed deltas are sent. Which elements such a delta has was decided before (store/compression.h);
// writing them loses nothing (packed.h).
#pragma once

#include "protocol/messages.h"

namespace ps {

// The same on all nodes. Plain data: it is part of a store's header.
class Packing {
public:
    // none: as they are. bfloat16: each element is a bfloat16. top_k: at most a `share` of the elements, or one, are
    // not zero; these are sent with their positions.
    enum class Kind : uint32_t { none, bfloat16, top_k };

    Packing() = default;
    Packing(Kind kind, uint32_t element_bytes, double share) : kind_(kind), each_(element_bytes), share_(share) {}

    Kind kind() const { return kind_; }
    uint32_t element_bytes() const { return each_; } // 4: of floats, 8: of doubles
    double share() const { return share_; }
    // Whether deltas of so many bytes become shorter; others are not compressed.
    bool shortens(uint64_t delta_bytes) const { return most_bytes(delta_bytes) < delta_bytes; }
    uint64_t elements(uint64_t delta_bytes) const { return delta_bytes / each_; }
    uint64_t most_elements(uint64_t delta_bytes) const; // that are not zero, with top_k
    uint64_t position_bytes(uint64_t delta_bytes) const { return elements(delta_bytes) <= 1 << 16 ? 2 : 4; }
    uint64_t most_bytes(uint64_t delta_bytes) const; // of a delta in this form

private:
    Kind kind_ = Kind::none;
    uint32_t each_ = sizeof(float);
    double share_ = 0;
};

} // namespace ps
