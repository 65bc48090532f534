#include "server/channel_thread.h"

#include <exception>
#include <stdexcept>
#include <utility>

#include "segment/process.h"

namespace ps {

void ChannelThread::start() {
    thread_ = std::thread([this] { run(); });
}

void ChannelThread::stop() {
    if (!thread_.joinable()) return;
    stop_ = true;
    segment_.wake_server(channel_.number(), Sleep::until_messages);
    thread_.join();
    channel_.outbound().begin(true);
    for (const Intake::Item &item : intake_.take()) take(item);
    channel_.flush();
}

void ChannelThread::give(Delivery delivery, bool may_run) {
    if (!thread_.joinable()) may_run = true;
    std::unique_lock<std::mutex> running(running_, std::defer_lock);
    if (!may_run || !running.try_lock() || !intake_.is_empty()) return leave(std::move(delivery));
    channel_.outbound().begin(true);
    delivery.to(channel_);
    channel_.flush();
    if (channel_.next_round() < sleeps_until_) segment_.wake_server(channel_.number(), Sleep::until_messages);
}

void ChannelThread::leave(Intake::Item item) {
    intake_.leave(std::move(item));
    segment_.wake_server(channel_.number(), Sleep::until_messages);
}

void ChannelThread::require_working() const {
    if (failed_.load(std::memory_order_acquire)) throw std::runtime_error(failure_);
}

void ChannelThread::run() noexcept {
    begin_thread(("ps channel " + std::to_string(channel_.number())).c_str());
    try {
        work();
    } catch (const std::exception &error) {
        failure_ = error.what();
        failed_.store(true, std::memory_order_release);
        segment_.doorbell().ring();
    }
}

void ChannelThread::work() {
    while (!stop_.load()) rest(take_turn());
}

// How long this thread will sleep is decided and written while no other thread runs the channel. A thread that runs the
// channel later reads it, and wakes this thread if the next round is then due earlier.
ChannelThread::Rest ChannelThread::take_turn() {
    std::lock_guard<std::mutex> running(running_);
    channel_.outbound().begin(false);
    for (const Intake::Item &item : intake_.take()) take(item);
    channel_.end_turn(monotonic_seconds());
    sleeps_until_ = channel_.next_round();
    double seconds = sleeps_until_ - monotonic_seconds();
    if (seconds > channel_.busy_pause()) return {seconds, true, channel_.go_to_sleep()};
    segment_.channel(channel_.number()).sleeps.store(Sleep::until_messages);
    return {seconds, false, seconds <= 0};
}

void ChannelThread::take(const Intake::Item &item) {
    if (auto *delivery = std::get_if<Delivery>(&item))
        delivery->to(channel_);
    else
        channel_.begin_epoch(std::get<Vigil::Epoch>(item));
}

void ChannelThread::rest(const Rest &rest) {
    std::atomic<Sleep> &sleeps = segment_.channel(channel_.number()).sleeps;
    Sleep asleep = sleeps.load();
    if (!rest.is_over && !stop_.load() && intake_.is_empty() && asleep != Sleep::none)
        sleep_on(sleeps, asleep, rest.seconds);
    bool woken = sleeps.exchange(Sleep::none) == Sleep::none;
    if (!rest.is_long) return;
    std::lock_guard<std::mutex> running(running_);
    channel_.wake_up(rest.is_over || woken);
}

} // namespace ps
