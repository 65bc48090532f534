#include "sampling/alias_table.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace ps {

void build_alias_table(const double *weights, int64_t n, AliasCell *cells) {
    const auto heaviest = uint32_t(std::max_element(weights, weights + n) - weights);
    const double most = weights[heaviest];
    long double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += weights[i] / most;
    std::vector<double> share(static_cast<size_t>(n)); // of all cells, how many each index must get
    for (int64_t i = 0; i < n; i++) share[i] = double(weights[i] / most * (n / sum));

    std::vector<uint32_t> order(static_cast<size_t>(n)); // indices with a share below 1 first, those with more last
    int64_t small = 0, large = n; // [0, small) and [large, n) are not done yet
    for (int64_t i = 0; i < n; i++) (share[i] < 1 ? order[small++] : order[--large]) = uint32_t(i);

    // Sum of the rounding errors so far; the next share is rounded the other way, so that the sum stays small.
    double excess = 0;
    auto rounded = [&](uint32_t i) {
        float keep = std::min(float(share[i]), 1.0f);
        if (excess > 0 && keep > share[i]) keep = std::nextafter(keep, 0.0f);
        if (excess < 0 && keep < share[i]) keep = std::nextafter(keep, 1.0f);
        if (keep == 0 && weights[i] > 0) keep = std::numeric_limits<float>::denorm_min();
        excess += double(keep) - share[i];
        return keep;
    };
    while (small > 0 && large < n) {
        uint32_t poor = order[--small], rich = order[large];
        cells[poor] = {rounded(poor), rich};
        share[rich] -= 1 - double(cells[poor].keep);
        if (share[rich] >= 1) continue;
        large++;
        order[small++] = rich;
    }
    // By rounding, cells may be left that are almost whole.
    while (large < n) {
        uint32_t rich = order[large++];
        cells[rich] = {1, rich};
    }
    while (small > 0) {
        uint32_t poor = order[--small];
        cells[poor] = {rounded(poor), heaviest};
    }
}

std::vector<double> alias_weights(const AliasCell *cells, int64_t n) {
    std::vector<double> result(static_cast<size_t>(n), 0.0);
    for (int64_t i = 0; i < n; i++) {
        result[i] += cells[i].keep;
        result[cells[i].other] += 1 - double(cells[i].keep);
    }
    return result;
}

} // namespace ps
