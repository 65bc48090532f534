// What a node's server sleeps on beside its sockets: workers of all processes ring when they come, arrive at a barrier
// or go. An eventfd, so nothing is left behind.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <utility>

#include "errors.h"

namespace ps {

class Doorbell {
public:
    Doorbell() : fd_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
        if (fd_ < 0) fail_with_errno("eventfd");
    }
    explicit Doorbell(int fd) : fd_(fd) {} // takes it over
    Doorbell(Doorbell &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Doorbell(const Doorbell &) = delete;
    Doorbell &operator=(const Doorbell &) = delete;
    ~Doorbell() {
        if (fd_ >= 0) close(fd_);
    }

    int fd() const { return fd_; }
    void ring() const { eventfd_write(fd_, 1); } // one that cannot count any more rings as well
    bool answer() const {                        // has anybody rung since the last time?
        eventfd_t rings;
        return eventfd_read(fd_, &rings) == 0;
    }

private:
    int fd_;
};

} // namespace ps
