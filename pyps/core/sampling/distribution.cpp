#include "sampling/distribution.h"

#include "sampling/registry.h"

namespace ps {

namespace {
const DistributionKind *const distributions[] = {&uniform_kind, &log_uniform_kind, &weighted_kind};
}

const DistributionKind &find_distribution(const char *name) { return find_kind(distributions, "distribution", name); }

void refuse_weights(const ps_sampling_options &options) {
    if (options.weights)
        fail(PS_EINVAL, Where{}, "weights were given for the distribution '%s'; only 'weighted' has some",
             options.distribution);
}

void keep_nothing(const ps_sampling_options &, SamplingArea *) {}

} // namespace ps
