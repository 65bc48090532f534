// Messages with a number for each key: of a replica that ends, or the version of a backup.
#pragma once

#include "wire/frame.h"
#include "wire/shape.h"

namespace ps {

template <Kind of_kind, class Number>
struct NumbersBatch {
    static constexpr Kind kind = of_kind;
    std::vector<Key> keys;
    std::vector<Number> numbers;

    Bytes encode(FrameHeader header) const;
    static NumbersBatch decode(const FrameHeader &header, FrameReader &reader, const Shape &shape);
};
using EndedBatch = NumbersBatch<Kind::ended, uint32_t>; // numbers of replicas
using RecallBatch = NumbersBatch<Kind::recall, uint32_t>; // numbers of replicas, too
using BackedBatch = NumbersBatch<Kind::backed, uint64_t>; // versions

} // namespace ps
