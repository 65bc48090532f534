// Whether it pays that a node acts on short intents, found by trial: workers' clocks advance faster either with it or
// without it. What is faster is kept for a while, for longer each time that it is found again, and then tried anew. So
// what trials cost stays a small part, and a program that changes is followed.
//
// The clocks are the measure because they are what a user waits for: a model of round trips, processor time and
// conflicts would have to know how much of each hides behind the others.
#pragma once

#include <cstdint>

namespace ps {

constexpr int64_t short_intent = 8; // clocks; longer ones are always acted on: many accesses share what they cost

class IntentTrials {
public:
    // Call it often: `now` in seconds, how often clocks of the node's workers have advanced in all, and of how many
    // such advances what is told today is over.
    void observe(double now, uint64_t clocks, uint64_t told_ahead);
    bool acts() const { return is_over() ? pays_ : plan[step_]; }
    bool is_over() const { return step_ == steps; } // what was found is kept for now
    bool is_trying() const { return !is_over() && moves_; } // observe it every few clocks

private:
    // A trial goes back and forth, so that a speed that only falls or rises favours neither.
    static constexpr int steps = 4;
    static constexpr bool plan[steps] = {true, false, false, true};

    struct Measured {
        double seconds = 0;
        uint64_t clocks = 0;
        double rate() const { return double(clocks) / seconds; }
    };

    void begin_step(double now);
    void end_step(double now);
    void decide(double now);
    bool is_pause(double seconds, uint64_t clocks) const;

    bool moves_ = false;
    int step_ = 0; // `steps`: what was found is kept, until `again_at_`
    uint64_t clocks_ = 0; // as last observed
    double since_ = -1; // when they last advanced; below 0: not known
    uint64_t skipped_ = 0; // clocks of this step, in which the step before still has effects
    Measured now_, found_[2]; // in this step; without and with acting, in this trial
    double began_ = 0, again_at_ = 0; // this trial; the next one
    double kept_ = 0; // how many times as long as the last trial its result was to be kept; 0: there was none
    bool pays_ = true; // that result
};

} // namespace ps
