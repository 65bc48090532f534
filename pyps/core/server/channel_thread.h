// The thread of a channel: it takes the messages that the server's own thread gives it, and does rounds when they are
// due. While it sleeps, the server's thread may run the channel instead, so that a message need not go from thread to
// thread.
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
    void stop(); // ends the thread and waits for it; after that the caller runs the channel

    // For the server's own thread. Takes the delivery at once if `may_run` and if the channel's thread is not working;
    // else leaves it to that thread. Deliveries keep their order in both cases.
    void give(Delivery delivery, bool may_run);
    void require_working() const; // throws the failure that has ended the thread

    void leave(Intake::Item item); // leaves it to the channel's thread; any thread may call this

private:
    struct Rest {
        double seconds; // until the next round; a message ends the rest earlier
        bool is_long; // a change by a worker ends it as well
        bool is_over; // something has happened already: do not rest
    };

    void run() noexcept;
    void work();
    Rest take_turn();
    void rest(const Rest &rest);
    void take(const Intake::Item &item);

    Segment &segment_;
    Channel &channel_;
    std::mutex running_; // held by the thread that runs the channel; also guards `sleeps_until_`
    double sleeps_until_ = 0;
    Intake intake_;
    std::string failure_; // written before `failed_`
    std::atomic<bool> failed_{false}, stop_{false};
    std::thread thread_;
};

} // namespace ps
