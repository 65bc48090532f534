#include "intent_trials.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace ps {

namespace {
constexpr double shortest_block = 0.025; // seconds
constexpr uint64_t fewest_clocks = 10, first_clocks = 6; // of a block; of a step that do not count, at least
constexpr uint64_t most_first_clocks = 10'000; // however early intents are told
constexpr int fewest_blocks = 2, most_blocks = 10; // of a step
constexpr double still_faster = 1.05; // so many times as fast as the block before: a step goes on
constexpr double shortest_kept = 8, longest_kept = 64; // times of a trial
constexpr double clearly = 1.03; // so many times as fast is a reason to change
constexpr double plainly = 1.5; // so many times as fast is found without the last step
constexpr double most_at_one = 4; // a node counts as if it were at most so many times as fast
constexpr double shortest_pause = 0.2, pause = 20; // seconds without an advance, and times of a clock's usual length
constexpr double pause_of_barrier = 2; // times of that, where workers came to a barrier meanwhile
constexpr double longest_pause = 10; // seconds; then a node leads no longer
constexpr double longest_silence = 3 * longest_pause; // of the node that leads; then it does so no longer
constexpr double longest_answer = 1; // seconds for all nodes to answer
static_assert(longest_kept <= IntentTrials::most_told && most_at_one <= IntentTrials::most_told);
} // namespace

void IntentTrials::observe(double now, uint64_t clocks, uint64_t told_ahead, uint64_t barriers) {
    if (clocks < clocks_ || since_ < 0) { // a worker has left
        clocks_ = clocks;
        since_ = now;
        skipped_ = 0;
        now_ = {};
        return;
    }
    const uint64_t advanced = clocks - clocks_;
    const double passed = now - since_;
    if (leads() && step_ == steps && now >= answers_due_) return decide(now);
    if (leads() && advanced == 0 && passed > longest_pause) return end(now, pays_, 0);
    if (!leads() && now - heard_ > longest_silence) leader_ = no_node;
    if (advanced == 0) return;
    has_paused_ = !has_paused_ && is_pause(passed, advanced, barriers != barriers_);
    clocks_ = clocks;
    barriers_ = barriers;
    since_ = now;
    if (is_over() && now >= again_at_) return lead(now);
    if (is_over() || step_ == steps || has_paused_) return;
    if (skipped_ < std::clamp(told_ahead, first_clocks, most_first_clocks)) {
        skipped_ += advanced;
        return;
    }
    now_.add({passed, advanced});
    if (leads() && now_.seconds >= shortest_block && now_.clocks >= fewest_clocks) go_on(now);
}

// A program that evaluates, saves or waits for data says nothing about what its clocks cost. Where all workers come to
// a barrier for that, also a short pause is known from a clock that takes longer. Two in a row are none: the program
// has become slower.
bool IntentTrials::is_pause(double seconds, uint64_t clocks, bool have_met) const {
    const Measured &known = now_.clocks > 0 ? now_ : last_[1].clocks > 0 ? last_[1] : found_[acts_];
    if (known.clocks == 0) return false;
    const double usual = double(clocks) / known.rate();
    return have_met ? seconds > pause_of_barrier * usual : seconds > shortest_pause && seconds > pause * usual;
}

void IntentTrials::receive(double now, NodeId from, const TrialNote &note) {
    const bool is_told = from == leader_ && note.trial == trial_;
    if (is_told) heard_ = now;
    switch (note.what) {
    case TrialNote::What::step:
        if (leader_ < from) return; // it will follow that one, too
        if (is_told) begin_block();
        if (is_told && note.step == step_) return;
        leader_ = from;
        trial_ = note.trial;
        heard_ = now;
        return begin_step(now, note.step, note.acts);
    case TrialNote::What::asks:
        if (!is_told) return;
        begin_block();
        begin_step(now, steps, pays_);
        return port_.tell(from, {TrialNote::What::found, trial_, 0, false, found()});
    case TrialNote::What::found: {
        const auto place = std::find(awaited_.begin(), awaited_.end(), from);
        if (!leads() || step_ != steps || note.trial != trial_ || place == awaited_.end()) return;
        awaited_.erase(place);
        note_found(note.number);
        if (awaited_.empty()) decide(now);
        return;
    }
    case TrialNote::What::ended:
        if (is_told) end(now, note.acts, note.number);
    }
}

void IntentTrials::begin_epoch(std::vector<NodeId> members) {
    members_ = std::move(members);
    leader_ = no_node;
}

void IntentTrials::lead(double now) {
    leader_ = self_;
    trial_ = ++led_;
    begin_step(now, 0, pays_);
    tell_all({TrialNote::What::step, trial_, 0, acts_});
}

// A step lasts until what was done before has no effect any more: while keys are on their way home, and replicas end,
// clocks advance faster and faster.
void IntentTrials::go_on(double now) {
    begin_block();
    const bool gets_faster = last_[1].rate() > still_faster * last_[0].rate();
    if (blocks_ >= fewest_blocks && (!gets_faster || blocks_ == most_blocks)) {
        begin_step(now, step_ + 1, acts_ == pays_ ? !pays_ : pays_);
        const double faster = found();
        if (faster > plainly || (faster > 0 && faster * plainly < 1)) step_ = steps;
        if (step_ == steps) return ask(now);
    }
    tell_all({TrialNote::What::step, trial_, uint16_t(step_), acts_});
}

void IntentTrials::begin_block() {
    last_[0] = last_[1];
    last_[1] = now_;
    now_ = {};
    blocks_++;
}

void IntentTrials::begin_step(double now, int step, bool acts) {
    if (step == 0) {
        began_ = now;
        found_[false] = found_[true] = {};
    } else {
        for (const Measured &block : last_) found_[acts_].add(block);
    }
    step_ = step;
    acts_ = acts;
    skipped_ = 0;
    blocks_ = 0;
    now_ = last_[0] = last_[1] = {};
}

void IntentTrials::ask(double now) {
    awaited_.clear();
    for (NodeId node : members_)
        if (node != self_) awaited_.push_back(node);
    all_found_.clear();
    note_found(found());
    answers_due_ = now + longest_answer;
    tell_all({TrialNote::What::asks, trial_});
    if (awaited_.empty()) decide(now);
}

// How many times as fast this node's clocks were with intents; 0 if they hardly moved.
double IntentTrials::found() const {
    if (std::min(found_[false].clocks, found_[true].clocks) < fewest_clocks) return 0;
    return std::min(found_[true].rate() / found_[false].rate(), most_at_one);
}

void IntentTrials::note_found(double number) {
    if (number > 0) all_found_.push_back(std::clamp(number, 1 / most_at_one, most_at_one));
}

void IntentTrials::decide(double now) {
    double sum = 0;
    for (double found : all_found_) sum += std::log(found);
    const double faster = std::exp(sum / double(std::max(all_found_.size(), size_t(1))));
    const bool pays = pays_ ? faster * clearly >= 1 : faster > clearly;
    end(now, pays, kept_ == 0 || pays != pays_ ? shortest_kept : std::min(2 * kept_, longest_kept));
}

// Others begin a trial a little later than this node, if it does not. `kept`: 0 if nothing was found.
void IntentTrials::end(double now, bool pays, double kept) {
    const bool led = leads();
    leader_ = no_node;
    pays_ = pays;
    if (kept > 0) kept_ = kept;
    again_at_ = now + (led ? kept : kept + 1) * (now - began_);
    if (led) tell_all({TrialNote::What::ended, trial_, 0, pays, kept});
}

void IntentTrials::tell_all(const TrialNote &note) {
    for (NodeId node : members_)
        if (node != self_) port_.tell(node, note);
}

} // namespace ps
