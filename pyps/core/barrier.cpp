#include "barrier.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "errors.h"
#include "workers.h"

namespace ps {

namespace {

constexpr double look_again_after = 0.05; // seconds: how soon a barrier notices that somebody was killed

long futex(std::atomic<uint32_t> &word, int operation, uint32_t value, const timespec *timeout) {
    return syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), operation, value, timeout, nullptr, 0);
}

bool reached(uint32_t done, uint32_t target) { return int32_t(done - target) >= 0; }

} // namespace

void complete_barrier(Segment &segment) {
    Header &header = segment.header();
    uint32_t done = header.barriers_done.load(std::memory_order_acquire);
    if (header.joined.load(std::memory_order_acquire) < header.num_workers) return;
    uint32_t used = header.slots_used.load(std::memory_order_acquire), arrived = 0;
    for (uint32_t number = 1; number <= used; number++) {
        WorkerSlot &slot = segment.slot(number);
        if (!identity_of(slot).is_taken()) continue;
        if (slot.barrier.load(std::memory_order_acquire) != done + 1) return;
        arrived++;
    }
    if (arrived && header.barriers_done.compare_exchange_strong(done, done + 1, std::memory_order_acq_rel))
        wake_barrier(segment);
}

void wake_barrier(Segment &segment) { futex(segment.header().barriers_done, FUTEX_WAKE, INT_MAX, nullptr); }

void Barrier::arrive(Segment &segment, WorkerSlot &slot) {
    if (target_) return;
    target_ = segment.header().barriers_done.load(std::memory_order_acquire) + 1;
    slot.barrier.store(target_, std::memory_order_release);
    complete_barrier(segment);
}

void Barrier::withdraw(WorkerSlot &slot) {
    slot.barrier.store(0, std::memory_order_release);
    target_ = 0;
}

int32_t Barrier::wait(Segment &segment, double timeout, double patience, const std::atomic<bool> &finalized) {
    Header &header = segment.header();
    double start = monotonic_seconds();
    for (;;) {
        uint32_t done = header.barriers_done.load(std::memory_order_acquire);
        if (reached(done, target_)) break;
        if (!segment.is_open() || finalized.load(std::memory_order_acquire))
            fail(PS_ECLOSED, Where{}, "the worker or the server was closed during a barrier");
        double waited = monotonic_seconds() - start;
        if (waited >= timeout)
            fail(PS_ETIMEDOUT, Where{}, "not all %u workers came to the barrier in time",
                 std::max(count_workers(segment), header.num_workers));
        if (waited >= patience) return PS_EBUSY;
        double nap = std::min({timeout - waited, patience - waited, look_again_after});
        timespec duration{0, long(nap * 1e9)};
        if (futex(header.barriers_done, FUTEX_WAIT, done, &duration) == 0) continue;
        if (errno == EINTR) return remember(PS_EINTR, "a signal arrived during a barrier");
        if (errno == ETIMEDOUT) {
            if (reclaim_dead(segment)) complete_barrier(segment);
            if (header.server.pid != uint32_t(getpid()) && !header.server.is_alive())
                fail(PS_ELOST, Where{-1, header.server.pid, 0}, "the server, process %u, died", header.server.pid);
        }
    }
    target_ = 0;
    return PS_OK;
}

} // namespace ps
