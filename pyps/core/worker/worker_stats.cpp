// The statistics of workers' calls: of one worker, and of all that a node has had.
#include "worker/worker_stats.h"

#include <algorithm>
#include <vector>

#include "errors.h"
#include "worker/worker.h"

using namespace ps;

namespace {

// `counted` has the numbers of Counters, in their order.
ps_worker_stats stats_of(const int64_t *counted, const Longest &longest) {
    static_assert(sizeof(Counters) == 13 * sizeof(int64_t), "each number of Counters is read here");
    const int64_t *calls = counted, *keys = calls + PS_LOCALIZE + 1, *local = keys + 3, *others = local + 3;
    ps_worker_stats s{};
    s.pulls = calls[PS_PULL];
    s.pushes = calls[PS_PUSH];
    s.sets = calls[PS_SET];
    s.localizes = calls[PS_LOCALIZE];
    s.keys_pulled = keys[PS_PULL];
    s.keys_pushed = keys[PS_PUSH];
    s.keys_set = keys[PS_SET];
    s.keys_pulled_local = local[PS_PULL];
    s.keys_pushed_local = local[PS_PUSH];
    s.keys_set_local = local[PS_SET];
    s.keys_local = s.keys_pulled_local + s.keys_pushed_local + s.keys_set_local;
    s.keys_remote = s.keys_pulled + s.keys_pushed + s.keys_set - s.keys_local;
    s.latch_waits = others[0];
    s.remote_operations = others[1];
    s.remote_wait_ns = others[2];
    s.longest_wait_ns = longest.wait_ns.load(std::memory_order_relaxed);
    s.longest_remote_ns = longest.remote_ns.load(std::memory_order_relaxed);
    return s;
}

} // namespace

ps_worker_stats ps_worker::stats() {
    auto held = lock();
    if (!attachment_) fail(PS_ECLOSED, Where{}, "the worker is finalized");
    std::vector<int64_t> counted(slot_.counters.begin(), slot_.counters.end());
    for (size_t i = 0; i < counted.size(); i++) counted[i] -= before_[i];
    return stats_of(counted.data(), slot_.longest);
}

ps_worker_stats ps::stats_of_workers(const Segment &segment) {
    std::vector<int64_t> counted(sizeof(Counters) / sizeof(int64_t));
    Longest longest{};
    const uint32_t used = segment.header().slots_used.load(std::memory_order_acquire);
    for (uint32_t number = 1; number <= used; number++) {
        WorkerSlot &slot = segment.slot(number);
        for (size_t i = 0; i < counted.size(); i++)
            counted[i] += slot.counters.begin()[i].load(std::memory_order_relaxed);
        longest.wait_ns = std::max(longest.wait_ns.load(), slot.longest.wait_ns.load(std::memory_order_relaxed));
        longest.remote_ns = std::max(longest.remote_ns.load(), slot.longest.remote_ns.load(std::memory_order_relaxed));
    }
    return stats_of(counted.data(), longest);
}
