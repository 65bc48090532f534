// What wakes a node's server when it sleeps, besides its sockets: workers of all processes ring it when they join,
// arrive at a barrier or leave. It is an eventfd, which leaves nothing behind.
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
    explicit Doorbell(int fd) : fd_(fd) {} // takes the descriptor over
    Doorbell(Doorbell &&other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Doorbell(const Doorbell &) = delete;
    Doorbell &operator=(const Doorbell &) = delete;
    ~Doorbell() {
        if (fd_ >= 0) close(fd_);
    }

    int fd() const { return fd_; }
    void ring() const { eventfd_write(fd_, 1); } // if it fails, its counter is full, so it rings already
    bool answer() const { // whether it was rung since the last call
        eventfd_t rings;
        return eventfd_read(fd_, &rings) == 0;
    }

private:
    int fd_;
};

} // namespace ps
