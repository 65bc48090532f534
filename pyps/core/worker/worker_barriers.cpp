// A worker's barriers: the one with all other workers, and those at the end of its setup.
#include <algorithm>

#include "errors.h"
#include "worker/worker.h"
#include "worker/workers.h"

using namespace ps;

void ps_worker::begin_setup() {
    auto held = lock();
    require_open();
    if (slot_.in_setup.exchange(1, std::memory_order_release)) return;
    before_setup_.assign(slot_.counters.begin(), slot_.counters.end());
    before_setup_.insert(before_setup_.end(), {slot_.longest.wait_ns.load(), slot_.longest.remote_ns.load()});
}

// If it ended early, also with PS_EINTR or PS_EBUSY, the next call goes on where it was. When the first barrier is
// over, the owners' values have everything that was pushed; when the second one is over, the replicas have it too.
int32_t ps_worker::end_setup(double timeout) {
    double end = monotonic_seconds() + timeout;
    for (; setup_steps_ < 4; setup_steps_++) {
        if (setup_steps_ == 2) leave_setup();
        double left = std::max(end - monotonic_seconds(), 1e-9);
        int32_t code = setup_steps_ % 2 ? barrier(left) : settle(Until::exchanged, left);
        if (code != PS_OK) return code;
    }
    setup_steps_ = 0;
    return PS_OK;
}

void ps_worker::leave_setup() {
    auto held = lock();
    require_open();
    if (!slot_.in_setup.exchange(0, std::memory_order_release)) return;
    for (size_t i = 0; i < before_.size(); i++) before_[i] += slot_.counters.begin()[i].load() - before_setup_[i];
    slot_.longest.wait_ns = before_setup_[before_.size()];
    slot_.longest.remote_ns = before_setup_[before_.size() + 1];
}

int32_t ps_worker::barrier(double timeout) {
    require_mine();
    std::unique_lock<std::mutex> alone(barrier_mutex_, std::try_to_lock);
    if (!alone)
        fail(PS_EINVAL, Where{}, "another thread is in a barrier with this worker: each thread needs its own worker");
    auto held = lock();
    require_open();
    if (slot_.is_aside.load(std::memory_order_relaxed))
        fail(PS_EINVAL, Where{}, "barriers do not wait for this worker, which is aside: it cannot come to one");
    std::shared_ptr<Attachment> attachment = attachment_;
    Segment &segment = *attachment->segment;
    Rounds &rounds = segment.header().worker_rounds;
    auto withdraw = [&] { // not after finalize: the slot may have another owner
        held.lock();
        return finalized_ || barrier_.withdraw(segment, rounds, slot_.arrival);
    };
    barrier_.arrive(segment, rounds, slot_.arrival);
    held.unlock();
    int32_t code;
    try {
        code = barrier_.wait(segment, rounds, timeout, patience_, [&] {
            if (finalized_) fail(PS_ECLOSED, Where{}, "the worker was finalized during a barrier");
            attachment->require_open();
        });
    } catch (...) {
        withdraw();
        throw;
    }
    if (code != PS_ETIMEDOUT) return code;
    if (!withdraw()) return PS_OK;
    const Header &header = segment.header();
    if (header.places > 1)
        fail(code, Where{-1, header.places, 0}, "not all workers of the %u nodes came to the barrier in time",
             header.places);
    uint32_t expected = std::max(count_workers(segment), header.num_workers);
    fail(PS_ETIMEDOUT, Where{-1, expected, 0}, "not all %u workers came to the barrier in time", expected);
}
