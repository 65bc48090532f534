// What the workers of a node intend to use, and when: an intent begins to matter before the worker's clock reaches its
// start, the earlier the faster that advances, and ends when the clock reaches its end.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <unordered_map>
#include <vector>

#include "clock_rate.h"
#include "flat_map.h"
#include "messages.h"

namespace ps {

class Intents {
public:
    // A dead worker's is INT64_MAX, of one that sets up values it is INT64_MIN.
    using Clock = std::function<int64_t(uint32_t worker)>;
    using Change = std::function<void(const std::vector<Key> &keys, bool begins)>;

    Intents(Clock clock, Change change) : clock_(std::move(clock)), change_(std::move(change)) {}

    void add(uint32_t worker, int64_t start, int64_t end, std::vector<Key> keys);
    // Look at the clocks, and how fast they advance; seconds. `rested`: since the last round none was needed.
    void begin_round(double now, bool rested);
    void update();                // look at the clocks
    bool is_due();                // would that begin or end something?
    bool empty() const { return waiting_.empty() && active_.empty(); }
    uint64_t waiting() const { return count(waiting_); }
    uint64_t active() const { return count(active_); }

private:
    struct Intent {
        int64_t end;
        std::vector<Key> keys;
    };
    using ByClock = std::multimap<int64_t, Intent>; // by start, or by end
    using ByWorker = std::unordered_map<uint32_t, ByClock>;

    static uint64_t count(const ByWorker &intents);

    void begin(const std::vector<Key> &keys);
    void end(const std::vector<Key> &keys);

    Clock clock_;
    Change change_;
    ByWorker waiting_, active_;
    std::unordered_map<uint32_t, ClockRate> rates_;
    double round_ = 0.001, last_round_ = 0; // a round's length, and when the last one began
    FlatMap<uint32_t> counts_;              // active intents
};

} // namespace ps
