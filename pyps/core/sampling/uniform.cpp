// uniform: every key of the range is equally likely.
#include "sampling/distribution.h"

namespace ps {

namespace {

class Uniform : public Distribution {
public:
    explicit Uniform(const SamplingArea &area) : min_(area.min), range_(area.range()) {}

    void draw(Random &random, int64_t *keys, int64_t n) const override {
        for (int64_t i = 0; i < n; i++) keys[i] = min_ + int64_t(random.below(uint64_t(range_)));
    }
    bool is_possible(int64_t) const override { return true; }
    std::vector<double> weights() const override { return std::vector<double>(size_t(range_), 1.0); }

private:
    int64_t min_, range_;
};

} // namespace

const DistributionKind uniform_kind{
    "uniform", 0, refuse_weights, keep_nothing,
    [](const SamplingArea &area) -> std::unique_ptr<Distribution> { return std::make_unique<Uniform>(area); }};

} // namespace ps
