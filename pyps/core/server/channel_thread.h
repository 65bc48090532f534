// The thread of a channel: it takes what the server's own thread gives it, and rounds when they are due. While it
// sleeps the server's thread may run the channel instead, which saves a message the way from one thread to another.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>

#include "server/channel.h"
#include "server/intake.h"

namespace ps {

class ChannelThread {
public:
    ChannelThread(Segment &segment, Channel &channel) : segment_(segment), channel_(channel) {}
    ~ChannelThread() { stop(); }

    void start();
    void stop(); // waits until it has ended; from then on the caller runs the channel

    // By the server's own thread: here at once if the channel's thread is not at work and `may_run`, else there. In
    // both ways the order is kept.
    void give(Delivery delivery, bool may_run);
    void require_working() const; // throws what has ended it

    void leave(Intake::Item item); // by any thread

private:
    struct Rest {
        double seconds; // until the next round, unless a message comes
        bool is_long; // or, if it is long, a worker changes something
        bool is_over; // before it begins
    };

    void run() noexcept;
    void work();
    Rest take_turn();
    void rest(const Rest &rest);
    void take(const Intake::Item &item);

    Segment &segment_;
    Channel &channel_;
    std::mutex running_; // held by the thread that runs the channel; guards the next one too
    double sleeps_until_ = 0;
    Intake intake_;
    std::string failure_; // written before `failed_`
    std::atomic<bool> failed_{false}, stop_{false};
    std::thread thread_;
};

} // namespace ps
