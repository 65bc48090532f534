// How another process of the same user on the same host gets a node's shared memory: it connects to an abstract Unix
// socket, both sides check each other's user, and the server sends the descriptors of its memfd and its doorbell. An
// abstract socket leaves no file behind.
#pragma once

#include <pthread.h>

#include <cstdint>
#include <memory>
#include <string>

#include "segment/segment.h"

namespace ps {

// Answers each client as soon as it has said who it is; a slow client does not delay the others.
class Listener {
public:
    explicit Listener(std::shared_ptr<Segment> segment); // starts the thread that answers
    Listener(const Listener &) = delete;
    Listener &operator=(const Listener &) = delete;
    ~Listener(); // ends the thread; a forked child, which has no such thread, only closes the descriptors

    const std::string &address() const { return address_; }

private:
    void run();
    void answer(int client);

    std::shared_ptr<Segment> segment_;
    uint32_t generation_;
    std::string address_;
    int socket_ = -1;
    int stop_ = -1; // an eventfd
    pthread_t thread_;
};

std::shared_ptr<Segment> attach(const std::string &address, double timeout); // throws PS_EADDRESS, PS_EINVAL

} // namespace ps
