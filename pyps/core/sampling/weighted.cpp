// weighted: the probability of a key is proportional to its weight.
#include <algorithm>
#include <cmath>

#include "errors.h"
#include "sampling/alias_table.h"
#include "sampling/distribution.h"

namespace ps {

namespace {

class Weighted : public Distribution {
public:
    explicit Weighted(const SamplingArea &area)
        : cells_(area.cells<AliasCell>()), min_(area.min), range_(area.range()) {}

    // In groups, so that the random accesses to cells of one group wait for memory at the same time.
    void draw(Random &random, int64_t *keys, int64_t n) const override {
        for (int64_t begin = 0; begin < n; begin += at_once) {
            int64_t end = std::min(n, begin + at_once);
            for (int64_t i = begin; i < end; i++) {
                keys[i] = int64_t(random.below(uint64_t(range_)));
                __builtin_prefetch(&cells_[keys[i]]);
            }
            for (int64_t i = begin; i < end; i++) keys[i] = min_ + draw_from(cells_[keys[i]], keys[i], random);
        }
    }
    bool is_possible(int64_t key) const override { return cells_[key - min_].keep > 0; }
    std::vector<double> weights() const override { return alias_weights(cells_, range_); }

private:
    static constexpr int64_t at_once = 32;

    const AliasCell *cells_;
    int64_t min_, range_;
};

void check(const ps_sampling_options &options) {
    int64_t range = options.max - options.min;
    if (!options.weights || options.num_weights != range)
        fail(PS_EINVAL, Where{-1, options.num_weights, range},
             "%lld weights were given for the %lld keys of [%lld, %lld); give one for each",
             static_cast<long long>(options.weights ? options.num_weights : 0), static_cast<long long>(range),
             static_cast<long long>(options.min), static_cast<long long>(options.max));
    bool any = false;
    for (int64_t i = 0; i < range; i++) {
        double weight = options.weights[i];
        if (!(weight >= 0) || std::isinf(weight))
            fail(PS_EINVAL, Where{i, 0, range}, "weight %lld of %lld is %g; it must be a finite number from 0 on",
                 static_cast<long long>(i + 1), static_cast<long long>(range), weight);
        any |= weight > 0;
    }
    if (!any) fail(PS_EINVAL, Where{}, "all weights are 0; at least one key must have some");
}

void fill(const ps_sampling_options &options, SamplingArea *area) {
    int64_t range = area->range();
    auto *cells = area->cells<AliasCell>();
    build_alias_table(options.weights, range, cells);
    area->population = std::count_if(cells, cells + range, [](const AliasCell &cell) { return cell.keep > 0; });
}

} // namespace

const DistributionKind weighted_kind{
    "weighted", sizeof(AliasCell), check, fill,
    [](const SamplingArea &area) -> std::unique_ptr<Distribution> { return std::make_unique<Weighted>(area); }};
static_assert(sizeof(AliasCell) <= most_cell_bytes, "room for the cells is reserved");

} // namespace ps
