// What will happen, in the order of time.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>

#include "membership/membership.h"

namespace ps::members {

class Events {
public:
    double now = 0; // seconds

    void after(double seconds, std::function<void()> what) { queue_.push({now + seconds, count_++, std::move(what)}); }
    double due() const { return queue_.empty() ? never : queue_.top().at; }
    void run_next() {
        Event event = queue_.top();
        queue_.pop();
        now = event.at;
        event.what();
    }

private:
    struct Event {
        double at;
        uint64_t number;
        std::function<void()> what;
        bool operator<(const Event &other) const { return at > other.at || (at == other.at && number > other.number); }
    };

    uint64_t count_ = 0;
    std::priority_queue<Event> queue_;
};

} // namespace ps::members
