// How many clocks before its start an intent takes effect, by AdaPM's rule (Renz-Wieland et al., 2022). The advances
// of a clock are treated as a Poisson process, whose rate is estimated by exponential smoothing. The number of clocks
// is the smallest one that the clock exceeds in two rounds with a probability of 0.0001 at most.
#pragma once

#include <cstdint>

namespace ps {

// The smallest k with P(X <= k) >= probability for X ~ Poisson(mean).
int64_t poisson_quantile(double mean, double probability);

class ClockRate {
public:
    void observe(int64_t clock, double now); // `now` in seconds; call it once in each round
    double per_second(double round) const; // clocks; until a rate is known, ten per round
    int64_t clocks_ahead(double round) const; // `round`: length of a round in seconds

private:
    int64_t clock_ = -1; // when it last advanced, at `since_`; -1: not known
    double since_ = 0;
    double rate_ = 0; // clocks per second; 0: not known
};

} // namespace ps
