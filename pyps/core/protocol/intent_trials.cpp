#include "intent_trials.h"

#include <algorithm>

namespace ps {

namespace {
constexpr double shortest_step = 0.05; // seconds
constexpr uint64_t fewest_clocks = 16, first_clocks = 6; // of a step: that count; that do not, before these
constexpr uint64_t most_first_clocks = 10'000; // however early intents are told
constexpr double shortest_kept = 8, longest_kept = 64; // times of a trial
constexpr double clearly = 1.03; // so many times as fast is a reason to change
constexpr double shortest_pause = 0.2, pause = 20; // seconds without an advance, and times of a clock's usual length
} // namespace

void IntentTrials::observe(double now, uint64_t clocks, uint64_t told_ahead) {
    if (clocks < clocks_ || since_ < 0) { // a worker has left
        clocks_ = clocks;
        since_ = now;
        return begin_step(now);
    }
    const uint64_t advanced = clocks - clocks_;
    moves_ = advanced > 0 || now - since_ < shortest_pause;
    if (advanced == 0) return;
    const double passed = now - since_;
    clocks_ = clocks;
    since_ = now;
    if (is_over()) {
        if (now < again_at_) return;
        step_ = 0;
        return begin_step(now);
    }
    if (is_pause(passed, advanced)) return;
    if (skipped_ < std::clamp(told_ahead, first_clocks, most_first_clocks)) {
        skipped_ += advanced;
        return;
    }
    now_.seconds += passed;
    now_.clocks += advanced;
    if (now_.seconds >= shortest_step && now_.clocks >= fewest_clocks) end_step(now);
}

// A program that evaluates, saves or waits for data says nothing about what its clocks cost.
bool IntentTrials::is_pause(double seconds, uint64_t clocks) const {
    return seconds > shortest_pause && now_.clocks > 0 && seconds > pause * double(clocks) / now_.rate();
}

void IntentTrials::begin_step(double now) {
    if (is_over()) return;
    if (step_ == 0) {
        began_ = now;
        found_[false] = found_[true] = {};
    }
    skipped_ = 0;
    now_ = {};
}

void IntentTrials::end_step(double now) {
    Measured &found = found_[plan[step_]];
    found.seconds += now_.seconds;
    found.clocks += now_.clocks;
    step_++;
    is_over() ? decide(now) : begin_step(now);
}

void IntentTrials::decide(double now) {
    const bool paid = pays_;
    const double without = found_[false].rate(), with = found_[true].rate();
    pays_ = paid ? with * clearly >= without : with > without * clearly;
    kept_ = kept_ == 0 || pays_ != paid ? shortest_kept : std::min(2 * kept_, longest_kept);
    again_at_ = now + kept_ * (now - began_);
}

} // namespace ps
