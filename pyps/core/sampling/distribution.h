// How often each key is drawn. A new distribution is a file that defines its DistributionKind, and a row in
// distribution.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ps.h"
#include "random.h"
#include "sampling/sampling_area.h"

namespace ps {

class Distribution {
public:
    virtual ~Distribution() = default;

    virtual void draw(Random &random, int64_t *keys, int64_t n) const = 0; // independently of one another
    virtual bool is_possible(int64_t key) const = 0; // whether a key of the range can be drawn
    virtual std::vector<double> weights() const = 0; // of each key of the range, up to a common factor
};

struct DistributionKind {
    const char *name;
    uint64_t bytes_per_key; // that it keeps in the area; at most most_cell_bytes
    void (*check)(const ps_sampling_options &); // throws PS_EINVAL
    void (*fill)(const ps_sampling_options &, SamplingArea *); // writes what it keeps, and the population
    std::unique_ptr<Distribution> (*make)(const SamplingArea &);
};

const DistributionKind &find_distribution(const char *name); // throws PS_EINVAL

// The `check` and `fill` of distributions without weights.
void refuse_weights(const ps_sampling_options &options);
void keep_nothing(const ps_sampling_options &options, SamplingArea *area);

extern const DistributionKind uniform_kind, log_uniform_kind, weighted_kind;

} // namespace ps
