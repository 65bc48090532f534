// log-uniform: in a range of n keys, key min + k has the probability log((k + 2) / (k + 1)) / log(n + 1). This is
// nearly Zipf's distribution, and the one of TensorFlow's log_uniform_candidate_sampler, used for word2vec's negative
// samples. The logarithm of a key's place, counted from 1, is uniform.
#include <algorithm>
#include <cmath>

#include "sampling/distribution.h"

namespace ps {

namespace {

class LogUniform : public Distribution {
public:
    explicit LogUniform(const SamplingArea &area)
        : min_(area.min), range_(area.range()), log_range_(std::log1p(double(area.range()))) {}

    void draw(Random &random, int64_t *keys, int64_t n) const override {
        for (int64_t i = 0; i < n; i++) {
            auto place = int64_t(std::exp(random.unit() * log_range_)); // in [1, range + 1), except for rounding
            keys[i] = min_ + std::clamp<int64_t>(place - 1, 0, range_ - 1);
        }
    }
    bool is_possible(int64_t) const override { return true; }
    std::vector<double> weights() const override {
        std::vector<double> result(static_cast<size_t>(range_));
        for (size_t k = 0; k < result.size(); k++) result[k] = std::log1p(1 / double(k + 1));
        return result;
    }

private:
    int64_t min_, range_;
    double log_range_;
};

} // namespace

const DistributionKind log_uniform_kind{
    "log-uniform", 0, refuse_weights, keep_nothing,
    [](const SamplingArea &area) -> std::unique_ptr<Distribution> { return std::make_unique<LogUniform>(area); }};

} // namespace ps
