#include "sampling/enabling.h"

#include <sys/random.h>

#include <cstring>

#include "errors.h"
#include "sampling/distribution.h"
#include "sampling/scheme.h"

namespace ps {

namespace {

constexpr int32_t default_pool_size = 250, default_pool_uses = 16; // as in the paper on NuPS, see pool_scheme.cpp
constexpr int32_t most_of_pool = 1 << 24;
enum : uint32_t { disabled = 0, being_enabled = 1, enabled = 2 };

SamplingArea &area_of(const Segment &segment) { return *reinterpret_cast<SamplingArea *>(segment.sampling_memory()); }

uint32_t in_range(const char *name, int32_t value, int32_t otherwise) {
    if (value < 0 || value > most_of_pool)
        fail(PS_EINVAL, Where{-1, value, most_of_pool}, "%s is %d; it must be in [1, %d], or 0 for %d", name, value,
             most_of_pool, otherwise);
    return uint32_t(value ? value : otherwise);
}

SamplingArea checked(const Segment &segment, const ps_sampling_options &options) {
    SamplingArea area{};
    int64_t num_keys = segment.header().num_keys;
    if (!segment.header().is_range())
        fail(PS_EINVAL, Where{-1, options.max, 0},
             "keys are drawn from a range, and those of this server may be any numbers: give it num_keys");
    if (options.min < 0 || options.max > num_keys || options.min >= options.max)
        fail(PS_EINVAL, Where{-1, options.max, num_keys},
             "keys cannot be drawn from [%lld, %lld): it must be a range within [0, %lld) that has a key",
             static_cast<long long>(options.min), static_cast<long long>(options.max),
             static_cast<long long>(num_keys));
    std::strncpy(area.scheme, find_scheme(options.scheme).name, sizeof area.scheme - 1);
    std::strncpy(area.distribution, find_distribution(options.distribution).name, sizeof area.distribution - 1);
    area.min = options.min;
    area.max = options.max;
    area.population = area.range();
    area.with_replacement = options.with_replacement != 0;
    area.pool_size = in_range("pool_size", options.pool_size, default_pool_size);
    area.pool_uses = in_range("pool_uses", options.pool_uses, default_pool_uses);
    area.seed = options.seed;
    if (!options.has_seed && getrandom(&area.seed, sizeof area.seed, 0) != sizeof area.seed)
        fail_with_errno("getrandom");
    return area;
}

} // namespace

void enable_sampling(Segment &segment, const ps_sampling_options &options) {
    SamplingArea plan = checked(segment, options);
    const DistributionKind &kind = find_distribution(options.distribution);
    kind.check(options);
    std::atomic<uint32_t> &state = segment.header().sampling;
    uint32_t before = disabled;
    if (!state.compare_exchange_strong(before, being_enabled))
        fail(PS_ESTATE, Where{}, "sampling is enabled already; it stays as it is while the node lives");
    try {
        segment.mapping().commit(segment.header().sampling_at,
                                 sizeof(SamplingArea) + uint64_t(plan.range()) * kind.bytes_per_key);
        SamplingArea &area = area_of(segment);
        area = plan;
        kind.fill(options, &area);
    } catch (...) {
        state = disabled;
        throw;
    }
    state.store(enabled, std::memory_order_release);
}

const SamplingArea &sampling_area(const Segment &segment) {
    if (segment.header().sampling.load(std::memory_order_acquire) != enabled)
        fail(PS_ESTATE, Where{},
             "sampling is not enabled on this node: the process that created it must call enable_sampling_support");
    return area_of(segment);
}

} // namespace ps
