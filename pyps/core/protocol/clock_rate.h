// How far ahead of a worker's clock an intent is acted on, by AdaPM's rule (Renz-Wieland et al., 2022): clocks advance
// as a Poisson process, whose rate is estimated by exponential smoothing; look ahead as far as the clock comes in two
// rounds with a probability of 0.9999.
#pragma once

#include <cstdint>

namespace ps {

// The smallest k with P(X <= k) >= probability for X ~ Poisson(mean).
int64_t poisson_quantile(double mean, double probability);

class ClockRate {
public:
    void observe(int64_t clock, double now); // seconds; once in a round
    double per_second(double round) const;   // as estimated; ten per round until it is known
    int64_t clocks_ahead(double round) const; // of a round's length in seconds

private:
    int64_t clock_ = -1;  // at the last time when it had advanced
    double since_ = 0;
    double rate_ = 0;     // 0: not known
};

} // namespace ps
