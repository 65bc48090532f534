// Simulated time: what happens, in its order, and fibers, which are what would be threads. One of them runs at a time,
// until it sleeps or rests; then time goes on to the next thing that happens. Things of the same time happen in the
// order in which they were asked for, so every run is the same.
#pragma once

#include <ucontext.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <functional>
#include <utility>
#include <vector>

#include "clock.h"

namespace ps::simulate {

class Events;

class Fiber {
public:
    Fiber(Events &events, std::function<void()> body);
    Fiber(const Fiber &) = delete;
    Fiber &operator=(const Fiber &) = delete;
    ~Fiber();

    // These two are called by the fiber itself.
    void sleep(double seconds);
    bool rest(double seconds); // until it is woken, which makes it return true, or the time is over

    void wake(double after = 0); // if it rests, it goes on so many seconds later
    bool is_resting() const { return resting_; }
    bool has_ended() const { return ended_; }
    double ran() const { return ran_ + real_seconds() - began_; } // real seconds; called by the fiber itself

private:
    friend class Events;
    static void enter(unsigned high, unsigned low);
    void go_on(); // called by the events
    void give_way(); // called by the fiber

    Events &events_;
    std::function<void()> body_;
    char *stack_;
    ucontext_t own_, back_;
    uint64_t turn_ = 0; // what was to wake it in a former turn is over
    bool resting_ = false, woken_ = false, ended_ = false;
    double ran_ = 0, began_ = 0; // before its turn, and when that began; real seconds
};

class Events {
public:
    void at(double time, std::function<void()> what) { add({time, count_++, nullptr, 0, std::move(what)}); }
    void go_on(double time, Fiber &fiber, uint64_t turn) { add({time, count_++, &fiber, turn, {}}); }
    void run(const std::function<bool()> &until); // throws what a fiber has thrown, and if nothing can happen any more
    bool is_empty() const { return heap_.empty(); }
    uint64_t count() const { return count_; }

private:
    friend class Fiber;
    struct Event {
        double time;
        uint64_t number;
        Fiber *fiber; // that goes on; null: `what` happens
        uint64_t turn;
        std::function<void()> what;
        bool operator<(const Event &other) const {
            return time > other.time || (time == other.time && number > other.number);
        }
    };

    void add(Event event) {
        heap_.push_back(std::move(event));
        std::push_heap(heap_.begin(), heap_.end());
    }

    uint64_t count_ = 0;
    std::vector<Event> heap_; // the first is due first
    std::exception_ptr failure_;
};

} // namespace ps::simulate
