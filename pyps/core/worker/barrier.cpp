#include "worker/barrier.h"

#include <algorithm>
#include <cmath>

#include "errors.h"
#include "segment/futex.h"
#include "worker/workers.h"

namespace ps {

namespace {

constexpr double look_again_after = 0.05; // seconds after which a barrier notices that a worker was killed
constexpr double longest_withdrawal = 1.0; // seconds that the other nodes may take to hear of it

} // namespace

void complete_barrier(Segment &segment) {
    Header &header = segment.header();
    if (header.has_server()) {
        segment.doorbell().ring();
        return;
    }
    uint32_t done = header.worker_rounds.load(std::memory_order_acquire);
    if (count_arrived(segment, done + 1).value_or(0) &&
        header.worker_rounds.compare_exchange_strong(done, done + 1, std::memory_order_acq_rel))
        wake_all(header.worker_rounds);
}

bool Barrier::is_over(const Rounds &rounds) const {
    return int32_t(rounds.load(std::memory_order_acquire) - round_) >= 0;
}

void Barrier::arrive(Segment &segment, const Rounds &rounds, ArrivalWord &arrival) {
    if (waits_) return;
    waits_ = true;
    round_ = rounds.load(std::memory_order_acquire) + 1;
    arrival.store(arrived | round_, std::memory_order_release);
    complete_barrier(segment);
}

int32_t Barrier::wait(Segment &segment, Rounds &rounds, double timeout, double patience,
                      const std::function<void()> &check) {
    double start = monotonic_seconds();
    for (;;) {
        uint32_t value = rounds.load(std::memory_order_acquire);
        if (is_over(rounds)) break;
        check();
        double waited = monotonic_seconds() - start;
        if (waited >= timeout) return PS_ETIMEDOUT;
        if (waited >= patience) return PS_EBUSY;
        double nap = std::min({timeout - waited, patience - waited, look_again_after});
        if (!sleep_on(rounds, value, nap))
            return std::isinf(patience) ? remember(PS_EINTR, "a signal arrived during a barrier") : int32_t(PS_EBUSY);
        // If there is a server, it looks for dead workers.
        if (!segment.header().has_server() && monotonic_seconds() - start >= waited + look_again_after &&
            reclaim_dead(segment))
            complete_barrier(segment);
    }
    waits_ = false;
    return PS_OK;
}

// Other nodes may have heard of the arrival. Until they hear of the withdrawal as well, the round may still end with
// this participant.
bool Barrier::withdraw(Segment &segment, Rounds &rounds, ArrivalWord &arrival) {
    waits_ = false;
    const Header &header = segment.header();
    if (!header.has_server() || !header.connected.load(std::memory_order_acquire) || !segment.is_open()) {
        arrival.store(0, std::memory_order_release);
        return true;
    }
    arrival.fetch_or(withdrawing, std::memory_order_acq_rel);
    double end = monotonic_seconds() + longest_withdrawal;
    segment.doorbell().ring();
    for (;;) {
        uint32_t value = rounds.load(std::memory_order_acquire);
        if (is_over(rounds)) return false;
        if (!arrival.load(std::memory_order_acquire)) return true;
        if (!segment.is_open() || monotonic_seconds() >= end) break;
        sleep_on(rounds, value, look_again_after);
    }
    arrival.store(0, std::memory_order_release);
    return true;
}

} // namespace ps
