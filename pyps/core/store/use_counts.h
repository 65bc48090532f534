// Counts the uses of keys that have no row yet, on a node where a key gets a row once it was used often enough.
//
// The counts are a sketch of bounded memory. A bucket is one cache line with 15 cells; a cell has 23 bits of a key's
// hash and its count. Where a bucket is full, a new key takes the cell with the smallest count, and from then on each
// new key of the bucket begins with as many uses. This is the algorithm Space-Saving (A. Metwally et al., "Efficient
// computation of frequent and top-k elements in data streams", ICDT 2005), for each bucket by itself. So a key may be
// counted as used more often than it was, and never less often, but for two things:
// - A key is forgotten that was not used for long, so that not all buckets become full: while as many new keys came as
//   the node has room for, and at the latest twice as many. One bucket after another has its turn, at which those keys
//   go that were not used since its last one.
// - Of two keys with the same bits in one bucket, the second is forgotten when the first gets a row. Among a million
//   keys that are counted, one or two have such another one.
//
// Each channel has one of these for its keys, and one thread uses it. It is memory of the server's process alone.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <memory>

#include "segment/segment.h"

namespace ps {

class UseCounts {
public:
    explicit UseCounts(const Segment &segment); // for the keys of one channel; throws std::bad_alloc
    static uint64_t bytes(const Header &header); // that those of all channels take at most

    void prefetch(uint64_t key) const { __builtin_prefetch(&bucket_of(hash(key)), 1); }
    // The key is used. True: often enough to get a row. This stays so until forget(), until it is not used for long, or
    // until its bucket, which was full, is full no more.
    bool count(uint64_t key);
    void forget(uint64_t key); // it has got a row; if it loses that, it is counted from 0

private:
    static constexpr uint32_t num_cells = 15, most_count = UINT8_MAX, used = most_count + 1,
                              beside_bits = used | most_count;

    // A word has a count in its lowest byte, then the bit `used`: since the bucket's last turn.
    struct alignas(64) Bucket {
        uint32_t cells[num_cells]; // in the other bits: those of the key; a count of 0: the cell is free
        uint32_t begin; // how often a key without a cell may have been used, and whether a cell was taken from a key
    };
    struct Free {
        void operator()(void *memory) const { std::free(memory); }
    };

    static uint64_t hash(uint64_t key) { return mix(key ^ 0x9e3779b97f4a7c15); } // not what chooses nodes and channels
    static uint32_t bits_of(uint64_t hash) { return uint32_t(hash) & ~beside_bits; }
    static uint32_t count_of(uint32_t word) { return word & most_count; }
    static void age(uint32_t &word) { word = word & used ? word & ~used : 0; }
    static uint32_t *find(Bucket &bucket, uint32_t bits); // null: the key has no cell
    Bucket &bucket_of(uint64_t hash) const { return buckets_[(hash >> 32) * num_buckets_ >> 32]; }
    bool begin(Bucket &bucket, uint32_t bits);
    void let_bucket_age();

    Header &header_;
    const uint32_t needed_; // uses
    const uint64_t num_buckets_;
    std::unique_ptr<void, Free> memory_;
    Bucket *buckets_;
    uint64_t new_keys_ = 0; // that came, in all
};

} // namespace ps
