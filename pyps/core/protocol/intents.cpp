#include "intents.h"

#include <algorithm>

#include "intent_trials.h"

namespace ps {

namespace {
constexpr double shortest_round = 0.001, longest_round = 0.1; // seconds: bounds of the estimated length of a round
} // namespace

void Intents::add(uint32_t worker, int64_t start, int64_t end, std::vector<Key> keys) {
    waiting_[worker].emplace(start, Intent{end, std::move(keys)});
}

void Intents::begin_round(double now, bool rested) {
    if (last_round_ > 0 && !rested)
        round_ = 0.9 * round_ + 0.1 * std::clamp(now - last_round_, shortest_round, longest_round);
    last_round_ = now;
    for (auto &[worker, queue] : waiting_) {
        int64_t clock = clock_(worker);
        if (clock != INT64_MAX && clock != INT64_MIN) rates_[worker].observe(clock, now);
    }
    update();
}

void Intents::update() {
    for (auto worker = waiting_.begin(); worker != waiting_.end();) {
        int64_t now = clock_(worker->first);
        int64_t ahead = rates_[worker->first].clocks_ahead(round_);
        ByClock &queue = worker->second;
        while (!queue.empty() && queue.begin()->first - ahead <= now) {
            const int64_t start = queue.begin()->first;
            Intent intent = std::move(queue.begin()->second);
            queue.erase(queue.begin());
            int64_t end = intent.end;
            if (end <= now) continue;
            begin(intent.keys, end - start > short_intent);
            active_[worker->first].emplace(end, std::move(intent));
        }
        worker = queue.empty() ? waiting_.erase(worker) : std::next(worker);
    }
    for (auto worker = active_.begin(); worker != active_.end();) {
        int64_t now = clock_(worker->first);
        ByClock &queue = worker->second;
        while (!queue.empty() && queue.begin()->first <= now) {
            end(queue.begin()->second.keys);
            queue.erase(queue.begin());
        }
        worker = queue.empty() ? active_.erase(worker) : std::next(worker);
    }
}

bool Intents::is_due() {
    auto begins = [&](auto &worker) {
        return worker.second.begin()->first - rates_[worker.first].clocks_ahead(round_) <= clock_(worker.first);
    };
    auto ends = [&](auto &worker) { return worker.second.begin()->first <= clock_(worker.first); };
    return std::any_of(waiting_.begin(), waiting_.end(), begins) || std::any_of(active_.begin(), active_.end(), ends);
}

uint64_t Intents::count(const ByWorker &intents) {
    uint64_t number = 0;
    for (const auto &[worker, queue] : intents) number += queue.size();
    return number;
}

void Intents::begin(const std::vector<Key> &keys, bool for_long) {
    std::vector<Key> first;
    for (Key key : keys)
        if (counts_[key]++ == 0) first.push_back(key);
    if (!first.empty()) change_(first, for_long ? What::begins_for_long : What::begins);
}

void Intents::end(const std::vector<Key> &keys) {
    std::vector<Key> last;
    for (Key key : keys) {
        if (--*counts_.find(key) > 0) continue;
        counts_.erase(key);
        last.push_back(key);
    }
    if (!last.empty()) change_(last, What::ends);
}

} // namespace ps
