// A worker's draws from its node's distribution. Without replacement, a sample's keys are as if drawn one after
// another, each from those that are left.
#pragma once

#include <cstdint>
#include <vector>

#include "sampling/distribution.h"
#include "sampling/key_set.h"

namespace ps {

class Draws {
public:
    // Different streams of one seed are independent.
    Draws(const SamplingArea &area, uint64_t stream)
        : area_(area), distribution_(find_distribution(area.distribution).make(area)), random_(area.seed, stream) {}

    const SamplingArea &area() const { return area_; }
    const Distribution &distribution() const { return *distribution_; }
    Random &random() { return random_; }

    std::vector<int64_t> independent(int64_t n);
    std::vector<int64_t> sample(int64_t n); // with or without replacement, as the node's options say

    // Distinct keys from any source of independent draws: call start_distinct, offer each draw, and when that takes too
    // many draws, let complete() draw the rest, whose time grows with the range only.
    void start_distinct(int64_t n);
    bool is_worth_offering() const { return offers_left_ > 0; }
    bool offer(int64_t key) { // returns whether it is new
        offers_left_--;
        return taken_.insert(key);
    }
    void complete(std::vector<int64_t> *keys, int64_t n);

private:
    const SamplingArea &area_;
    std::unique_ptr<Distribution> distribution_;
    Random random_;
    KeySet taken_;
    int64_t offers_left_ = 0;
};

} // namespace ps
