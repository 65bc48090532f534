// A worker's samples: prepared, pulled in one or several parts, finished.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "sampling/draws.h"
#include "sampling/scheme.h"

namespace ps {

class Sampler {
public:
    // `stream`: a number that no other worker has that draws with the same seed.
    Sampler(const SamplingArea &area, uint64_t stream, SamplingPort &port)
        : draws_(area, stream), scheme_(find_scheme(area.scheme).make(draws_, port)) {}

    int64_t prepare(int64_t n, int64_t start, int64_t end); // returns an id, from 1; throws PS_EINVAL

    // Pull the next request.num_keys keys of a sample and write them to `keys`. Unless it returns PS_OK, the sample is
    // unchanged; when all of it has been pulled, it is finished. Throws PS_EINVAL, PS_ESIZE and what pulls throw.
    int32_t pull(int64_t id, int64_t *keys, ps_request *request);

    void finish(int64_t id); // may be finished already; throws PS_EINVAL if it was never prepared

private:
    void require_prepared(int64_t id) const;

    Draws draws_;
    std::unique_ptr<Scheme> scheme_;
    std::unordered_map<int64_t, Sample> samples_; // those that are not finished
    int64_t last_ = 0;
};

} // namespace ps
