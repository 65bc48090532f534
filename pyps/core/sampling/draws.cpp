#include "sampling/draws.h"

#include <algorithm>
#include <cmath>
#include <queue>
#include <utility>

namespace ps {

std::vector<int64_t> Draws::independent(int64_t n) {
    std::vector<int64_t> keys(static_cast<size_t>(n));
    distribution_->draw(random_, keys.data(), n);
    return keys;
}

// Without replacement, draws that repeat a key are thrown away.
std::vector<int64_t> Draws::sample(int64_t n) {
    if (area_.with_replacement) return independent(n);
    std::vector<int64_t> keys;
    keys.reserve(static_cast<size_t>(n));
    start_distinct(n);
    while (int64_t(keys.size()) < n && is_worth_offering())
        for (int64_t key : independent(n - int64_t(keys.size())))
            if (offer(key)) keys.push_back(key);
    complete(&keys, n);
    return keys;
}

void Draws::start_distinct(int64_t n) {
    taken_.clear(uint64_t(n));
    offers_left_ = n + area_.range();
}

// Draws without replacement by times of arrival: each key arrives after an exponential time whose rate is its weight.
// The order of arrivals has the distribution of such draws, also among the keys that are left after some draws (P.
// Efraimidis, P. Spirakis, "Weighted Random Sampling with a Reservoir", Information Processing Letters 97, 2006).
void Draws::complete(std::vector<int64_t> *keys, int64_t n) {
    auto missing = size_t(n) - keys->size();
    if (missing == 0) return;
    using Arrival = std::pair<double, int64_t>;
    std::priority_queue<Arrival> first;
    std::vector<double> weights = distribution_->weights();
    for (size_t i = 0; i < weights.size(); i++) {
        int64_t key = area_.min + int64_t(i);
        if (!(weights[i] > 0) || taken_.contains(key)) continue;
        first.emplace(-std::log(random_.positive()) / weights[i], key);
        if (first.size() > missing) first.pop();
    }
    size_t at = keys->size() + first.size();
    keys->resize(at);
    for (; !first.empty(); first.pop()) {
        (*keys)[--at] = first.top().second;
        taken_.insert(first.top().second);
    }
}

} // namespace ps
