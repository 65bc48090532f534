#include "store/use_counts.h"

#include <algorithm>
#include <new>

#include "counting.h"
#include "segment/mapping.h"

namespace ps {

namespace {

constexpr uint64_t bucket_bytes = 64, bytes_per_key = 16; // for each key that there is room for
constexpr uint64_t part_of_limit = 16; // at most one 16th of memory_limit
constexpr uint64_t fewest_buckets = 64;
constexpr uint64_t keys_per_turn = bucket_bytes / bytes_per_key; // after so many new keys a bucket has its turn

uint64_t buckets_for(const Header &header) {
    uint64_t bytes = uint64_t(header.capacity) * bytes_per_key;
    if (header.memory_limit) bytes = std::min(bytes, header.memory_limit / part_of_limit);
    return std::max(bytes / bucket_bytes / header.num_channels, fewest_buckets);
}

} // namespace

uint64_t UseCounts::bytes(const Header &header) {
    return header.admission ? header.num_channels * buckets_for(header) * bucket_bytes : 0;
}

// Pages come with their first use, so a node that has few keys takes little memory.
UseCounts::UseCounts(const Segment &segment)
    : header_(segment.header()), needed_(header_.admission), num_buckets_(buckets_for(header_)),
      memory_(std::calloc(num_buckets_ + 1, bucket_bytes)) {
    static_assert(sizeof(Bucket) == bucket_bytes);
    if (!memory_) throw std::bad_alloc();
    buckets_ = reinterpret_cast<Bucket *>(round_up(reinterpret_cast<uintptr_t>(memory_.get()), bucket_bytes));
}

bool UseCounts::count(uint64_t key) {
    const uint64_t hashed = hash(key);
    Bucket &bucket = bucket_of(hashed);
    uint32_t *cell = find(bucket, bits_of(hashed));
    if (!cell) return begin(bucket, bits_of(hashed));
    *cell |= used;
    if (count_of(*cell) + 1 >= needed_) return true;
    ++*cell;
    return false;
}

void UseCounts::forget(uint64_t key) {
    const uint64_t hashed = hash(key);
    uint32_t *cell = find(bucket_of(hashed), bits_of(hashed));
    if (!cell) return;
    *cell = 0;
    count_in(header_.keys_waiting, -1);
}

uint32_t *UseCounts::find(Bucket &bucket, uint32_t bits) {
    uint32_t *end = bucket.cells + num_cells;
    uint32_t *cell = std::find_if(bucket.cells, end,
                                  [=](uint32_t one) { return count_of(one) && bits_of(one) == bits; });
    return cell == end ? nullptr : cell;
}

// The first use of a key that has no cell. A free cell has the smallest count of all.
bool UseCounts::begin(Bucket &bucket, uint32_t bits) {
    if (++new_keys_ % keys_per_turn == 0) let_bucket_age();
    uint32_t &cell = *std::min_element(bucket.cells, bucket.cells + num_cells,
                                       [](uint32_t a, uint32_t b) { return count_of(a) < count_of(b); });
    const uint32_t former = std::max(count_of(bucket.begin), count_of(cell));
    if (former + 1 >= needed_) return true;
    if (count_of(cell) == 0)
        count_in(header_.keys_waiting, 1);
    else
        bucket.begin = used | former;
    cell = bits | used | (former + 1);
    return false;
}

void UseCounts::let_bucket_age() {
    Bucket &bucket = buckets_[new_keys_ / keys_per_turn % num_buckets_];
    age(bucket.begin);
    for (uint32_t &cell : bucket.cells) {
        const bool was_taken = count_of(cell);
        age(cell);
        if (was_taken && !count_of(cell)) count_in(header_.keys_waiting, -1);
    }
}

} // namespace ps
