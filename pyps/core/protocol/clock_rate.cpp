#include "clock_rate.h"

#include <algorithm>
#include <cmath>

namespace ps {

namespace {
constexpr double smoothing = 0.1, certainty = 0.9999;
constexpr double first_guess = 10; // clocks per round
} // namespace

// The sum begins where the probabilities begin to matter, and each is computed from the one before. So it is exact up
// to rounding, also where exp(-mean) is 0.
int64_t poisson_quantile(double mean, double probability) {
    if (!(mean > 0)) return 0;
    double first = std::max(0.0, std::floor(mean - 12 * std::sqrt(mean) - 20));
    double mass = std::exp(first * std::log(mean) - mean - std::lgamma(first + 1)), sum = mass;
    double k = first, last = mean + 40 * std::sqrt(mean) + 100;
    while (sum < probability && k < last) {
        k++;
        mass *= mean / k;
        sum += mass;
    }
    return int64_t(k);
}

// A worker that pauses makes one slow advance, no matter how many rounds the pause lasts.
void ClockRate::observe(int64_t clock, double now) {
    if (clock < clock_ || clock_ < 0) { // another worker has the slot now
        *this = ClockRate();
        clock_ = clock;
        since_ = now;
    } else if (clock > clock_ && now > since_) {
        double rate = double(clock - clock_) / (now - since_);
        rate_ = rate_ > 0 ? (1 - smoothing) * rate_ + smoothing * rate : rate;
        clock_ = clock;
        since_ = now;
    }
}

double ClockRate::per_second(double round) const { return rate_ > 0 ? rate_ : first_guess / round; }

int64_t ClockRate::clocks_ahead(double round) const {
    return poisson_quantile(2 * per_second(round) * round, certainty);
}

} // namespace ps
