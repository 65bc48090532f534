#include "sampling/sampler.h"

#include <algorithm>

#include "errors.h"

namespace ps {

namespace {
constexpr int64_t most_keys = int64_t(1) << 28; // of a sample
}

int64_t Sampler::prepare(int64_t n, int64_t start, int64_t end) {
    const SamplingArea &area = draws_.area();
    if (n < 1 || n > most_keys)
        fail(PS_EINVAL, Where{-1, n, most_keys}, "a sample cannot have %lld keys; it has from 1 to %lld",
             static_cast<long long>(n), static_cast<long long>(most_keys));
    if (!area.with_replacement && n > area.population)
        fail(PS_EINVAL, Where{-1, n, area.population},
             "%lld distinct keys cannot be drawn: sampling is without replacement, and %lld keys can be drawn",
             static_cast<long long>(n), static_cast<long long>(area.population));
    Sample sample;
    sample.start = start;
    sample.end = end;
    scheme_->prepare(&sample, n);
    samples_.emplace(last_ + 1, std::move(sample));
    return ++last_;
}

int32_t Sampler::pull(int64_t id, int64_t *keys, ps_request *request) {
    require_prepared(id);
    auto found = samples_.find(id);
    if (found == samples_.end())
        fail(PS_EINVAL, Where{-1, id, last_},
             "sample %lld is finished: all its keys were pulled, or finish_sample said so", static_cast<long long>(id));
    Sample &sample = found->second;
    if (request->num_keys < 0 || request->num_keys > sample.left())
        fail(PS_EINVAL, Where{-1, request->num_keys, sample.left()},
             "%lld keys of sample %lld cannot be pulled; it has %lld left", static_cast<long long>(request->num_keys),
             static_cast<long long>(id), static_cast<long long>(sample.left()));
    int32_t code = scheme_->pull(&sample, request);
    if (code != PS_OK) return code;
    std::copy_n(request->keys, request->num_keys, keys);
    sample.used += request->num_keys;
    if (sample.left() == 0) samples_.erase(found);
    return PS_OK;
}

void Sampler::finish(int64_t id) {
    require_prepared(id);
    samples_.erase(id);
}

void Sampler::require_prepared(int64_t id) const {
    if (id < 1 || id > last_)
        fail(PS_EINVAL, Where{-1, id, last_}, "sample %lld was not prepared by this worker",
             static_cast<long long>(id));
}

} // namespace ps
