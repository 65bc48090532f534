// What the workers of a node intend to use, and when. An intent takes effect a little before the worker's clock reaches
// its start (the faster the clock, the earlier), and ends when the clock reaches its end.
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
    // A worker's clock: INT64_MAX if it is dead, INT64_MIN while it sets up values.
    using Clock = std::function<int64_t(uint32_t worker)>;
    enum class What { begins, begins_for_long, ends }; // for long: for more than a short intent's clocks
    using Change = std::function<void(const std::vector<Key> &keys, What what)>;

    Intents(Clock clock, Change change) : clock_(std::move(clock)), change_(std::move(change)) {}

    void add(uint32_t worker, int64_t start, int64_t end, std::vector<Key> keys);
    // Update, and estimate how fast the clocks advance; `now` in seconds. `rested`: no round was needed for a while, so
    // the time since the last one is not a round's length.
    void begin_round(double now, bool rested);
    void update(); // begin and end intents by the workers' clocks
    bool is_due(); // whether update() would begin or end something
    bool empty() const { return waiting_.empty() && active_.empty(); }
    uint64_t waiting() const { return count(waiting_); }
    uint64_t active() const { return count(active_); }

private:
    struct Intent {
        int64_t end;
        std::vector<Key> keys;
    };
    using ByClock = std::multimap<int64_t, Intent>; // by start if it waits, by end if it is active
    using ByWorker = std::unordered_map<uint32_t, ByClock>;

    static uint64_t count(const ByWorker &intents);

    void begin(const std::vector<Key> &keys, bool for_long);
    void end(const std::vector<Key> &keys);

    Clock clock_;
    Change change_;
    ByWorker waiting_, active_;
    std::unordered_map<uint32_t, ClockRate> rates_;
    double round_ = 0.001, last_round_ = 0; // the estimated length of a round, and when the last one began; seconds
    FlatMap<uint32_t> counts_; // how many active intents a key has
};

} // namespace ps
