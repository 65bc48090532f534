// The statistics of a worker's calls.
#include "errors.h"
#include "worker/worker.h"

using namespace ps;

ps_worker_stats ps_worker::stats() {
    auto held = lock();
    if (!attachment_) fail(PS_ECLOSED, Where{}, "the worker is finalized");
    Counters &counters = slot_.counters;
    auto read = [](const std::atomic<int64_t> &counter) { return counter.load(std::memory_order_relaxed); };
    ps_worker_stats s{};
    s.pulls = read(counters.calls[PS_PULL]);
    s.pushes = read(counters.calls[PS_PUSH]);
    s.sets = read(counters.calls[PS_SET]);
    s.keys_pulled = read(counters.keys[PS_PULL]);
    s.keys_pushed = read(counters.keys[PS_PUSH]);
    s.keys_set = read(counters.keys[PS_SET]);
    s.keys_pulled_local = read(counters.local[PS_PULL]);
    s.keys_pushed_local = read(counters.local[PS_PUSH]);
    s.keys_set_local = read(counters.local[PS_SET]);
    s.keys_local = s.keys_pulled_local + s.keys_pushed_local + s.keys_set_local;
    s.keys_remote = s.keys_pulled + s.keys_pushed + s.keys_set - s.keys_local;
    s.latch_waits = read(counters.waits);
    s.longest_wait_ns = read(counters.longest_wait_ns);
    s.remote_operations = read(counters.remote_operations);
    s.remote_wait_ns = read(counters.remote_wait_ns);
    s.longest_remote_ns = read(counters.longest_remote_ns);
    return s;
}
