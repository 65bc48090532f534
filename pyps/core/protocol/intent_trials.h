// Whether it pays that nodes act on short intents, found by trial: workers' clocks advance faster either with it or
// without it. What is faster is kept for a while, for longer each time that it is found again, and then tried anew. So
// what trials cost stays a small part, and a program that changes is followed.
//
// The clocks are the measure because they are what a user waits for: a model of round trips, processor time and
// conflicts would have to know how much of each hides behind the others.
//
// All nodes try the same at the same time, as what one of them does makes others faster or slower. The first whose time
// has come leads: it says when the others go on to the next step, asks what they have found, and decides for all. If
// two begin at once, the one with the lower number leads. A new epoch ends a trial, and another one begins.
#pragma once

#include <cstdint>
#include <vector>

#include "protocol/messages.h"

namespace ps {

constexpr int64_t short_intent = 8; // clocks; longer ones are always acted on: many accesses share what they cost

// What nodes tell each other about a trial.
struct TrialNote {
    enum class What : uint16_t {
        step, // from the node that leads: all are to go on with this step, or to begin it
        asks, // from it: the last step is over; what have you found?
        found, // the answer
        ended, // from the node that leads: what is kept from now on
    };
    What what;
    uint32_t trial; // of those that this node has led
    uint16_t step = 0; // of `step`: from 0
    bool acts = false; // of `step` and `ended`: whether to act on intents
    double number = 0; // of `found`: how many times as fast it is with intents, 0 if not known; of `ended`: see `kept_`
};

class IntentTrials {
public:
    class Port {
    public:
        virtual void tell(NodeId to, const TrialNote &note) = 0;

    protected:
        ~Port() = default;
    };

    // There, back, and there again, so that a speed that only falls favours neither. The last one is left out where the
    // difference is plain.
    static constexpr int steps = 3;
    static constexpr double most_told = 64; // as a number of a TrialNote

    IntentTrials(NodeId self, std::vector<NodeId> members, Port &port)
        : self_(self), members_(std::move(members)), port_(port) {}

    // Call it often: `now` in seconds, how often clocks of the node's workers have advanced in all, of how many such
    // advances what is told today is over, and how many barriers of workers are.
    void observe(double now, uint64_t clocks, uint64_t told_ahead, uint64_t barriers);
    void receive(double now, NodeId from, const TrialNote &note);
    void begin_epoch(std::vector<NodeId> members);

    bool acts() const { return is_over() || step_ == steps ? pays_ : acts_; }
    bool is_over() const { return leader_ == no_node; } // what was found is kept for now; else observe it often

private:
    struct Measured {
        double seconds = 0;
        uint64_t clocks = 0;
        double rate() const { return double(clocks) / seconds; }
        void add(const Measured &more) {
            seconds += more.seconds;
            clocks += more.clocks;
        }
    };

    bool leads() const { return leader_ == self_; }
    void lead(double now);
    void go_on(double now);
    void begin_block();
    void begin_step(double now, int step, bool acts);
    void ask(double now);
    void decide(double now);
    void end(double now, bool pays, double kept);
    double found() const;
    void note_found(double number); // of any node
    void tell_all(const TrialNote &note);
    bool is_pause(double seconds, uint64_t clocks, bool have_met) const;

    const NodeId self_;
    std::vector<NodeId> members_;
    Port &port_;

    uint64_t clocks_ = 0; // as last observed
    uint64_t barriers_ = 0; // that were over then
    double since_ = -1; // when they last advanced; below 0: not known
    bool has_paused_ = false; // before they did

    NodeId leader_ = no_node; // of the trial that is under way
    uint32_t trial_ = 0, led_ = 0; // its number there; how many this node has led
    int step_ = 0; // `steps`: the node that leads asks, or was told, what was found
    bool acts_ = true; // in this step
    uint64_t skipped_ = 0; // clocks of this step, in which the step before still has effects
    int blocks_ = 0; // of this step that are over
    Measured now_, last_[2], found_[2]; // in this block; in the two before; without and with acting, in this trial
    double began_ = 0, again_at_ = 0; // this trial; the next one, if this node is to lead it
    double heard_ = 0; // of the node that leads
    std::vector<NodeId> awaited_; // nodes that have not yet told the node that leads what they have found
    std::vector<double> all_found_;
    double answers_due_ = 0;

    double kept_ = 0; // how many times as long as the last trial its result is to be kept; 0: there was none
    bool pays_ = true; // that result
};

} // namespace ps
