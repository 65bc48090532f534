// The threads of a node and the processors that they share. A thread has a processor from when it is woken until it
// rests. What it does takes no time at first, but is charged to it, and the thread pays before it rests: then the
// processor is busy for so long. Messages leave at the time up to which the thread was charged when it sent them.
#pragma once

#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <utility>

#include "costs.h"
#include "fibers.h"

namespace ps::simulate {

class Processors {
public:
    explicit Processors(int64_t count) : free_(count) {}

    void take(Fiber &fiber) {
        if (free_ > 0) {
            free_--;
            return;
        }
        waiting_.push_back(&fiber);
        fiber.rest(HUGE_VAL);
    }
    void give_back() {
        if (waiting_.empty()) {
            free_++;
            return;
        }
        waiting_.front()->wake();
        waiting_.pop_front();
    }
    bool is_anybody_waiting() const { return !waiting_.empty(); }

private:
    int64_t free_;
    std::deque<Fiber *> waiting_;
};

// What the threads of a node compute with: processors of its own, or what it may compute on those of a machine that it
// shares with other nodes.
class Share {
public:
    Share(const Hosts &hosts, Processors *machine)
        : quota_(hosts.quota), period_(hosts.period), own_(hosts.processors), machine_(machine) {}

    void take(Fiber &fiber) {
        own_.take(fiber);
        if (machine_) machine_->take(fiber);
    }
    void give_back() {
        if (machine_) machine_->give_back();
        own_.give_back();
    }
    bool is_anybody_waiting() const {
        return own_.is_anybody_waiting() || (machine_ && machine_->is_anybody_waiting());
    }

    // A thread that computes calls it before each slice: where all have computed what they may in this period, it waits
    // for the next one.
    void use(Fiber &fiber, double seconds) {
        for (double held; (held = held_back()) > 0;) {
            if (machine_) machine_->give_back();
            fiber.sleep(held);
            if (machine_) machine_->take(fiber);
        }
        used_ += seconds;
    }

private:
    double held_back() {
        if (quota_ <= 0) return 0;
        const double period = std::floor(now / period_);
        if (period != current_) current_ = period, used_ = 0;
        return used_ < quota_ ? 0 : (period + 1) * period_ - now;
    }

    const double quota_, period_; // seconds that all may compute in each period; 0: any number
    double current_ = 0, used_ = 0; // the period, and what was computed in it
    Processors own_;
    Processors *const machine_;
};

class Thread {
public:
    Thread(Events &events, Share &processors, const Costs &costs, std::function<void(Thread &)> body)
        : processors_(processors), costs_(costs), fiber_(events, [this, body = std::move(body)] {
              processors_.take(fiber_);
              body(*this);
              pay();
              processors_.give_back();
          }) {}

    void charge(double seconds) { debt_ += seconds * costs_.slowness; }
    double time() const { return now + debt_; }
    double computed() const { return computed_; }
    const Fiber &fiber() const { return fiber_; }
    double longest_rest() { return std::exchange(longest_rest_, 0); } // since it was last asked for

    // Long work is done in slices, after each of which another thread may have the processor.
    void pay() {
        while (debt_ > 0) {
            const double slice = std::min(debt_, longest_slice);
            processors_.use(fiber_, slice);
            fiber_.sleep(slice);
            computed_ += slice;
            debt_ = std::max(0.0, debt_ - slice);
            if (debt_ > 0 && processors_.is_anybody_waiting()) yield();
        }
    }
    // Until `news` are there, told by a call of wake(), or the time is over.
    template <class News>
    void rest(double seconds, News &&news) {
        pay();
        if (news() || seconds <= 0) return;
        processors_.give_back();
        rests_ = true;
        const double began = now;
        fiber_.rest(seconds);
        longest_rest_ = std::max(longest_rest_, now - began);
        rests_ = false;
        processors_.take(fiber_);
        charge(costs_.sleep);
    }
    void wake() {
        if (rests_) fiber_.wake(costs_.wake);
    }

private:
    static constexpr double longest_slice = 0.0002;

    void yield() {
        processors_.give_back();
        processors_.take(fiber_);
    }

    Share &processors_;
    const Costs &costs_;
    double debt_ = 0, computed_ = 0, longest_rest_ = 0;
    bool rests_ = false; // not only for a processor
    Fiber fiber_;
};

} // namespace ps::simulate
