// Decides which clients a router with CURVE keys admits: those that prove to have the cluster's own pair. A thread
// answers ZeroMQ's questions about clients (the protocol ZAP, RFC 27). It also counts refused connections, among them
// those that ZeroMQ refuses without asking, because they have no key or expect another one.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>

#include "net/zeromq/socket.h"

namespace ps {

class Admission {
public:
    // Make it before the router is bound: without it, ZeroMQ admits every client.
    Admission(ZmqContext &context, ZmqSocket &router, std::atomic<uint64_t> &refused);
    ~Admission(); // from then on the router admits no client
    Admission(const Admission &) = delete;
    Admission &operator=(const Admission &) = delete;

private:
    void run() noexcept;
    bool answer_one();
    bool count_one();

    ZmqSocket &router_;
    std::atomic<uint64_t> &refused_;
    std::string admitted_; // the public key's 32 bytes
    ZmqSocket questions_, events_;
    std::atomic<bool> stop_{false};
    int wake_; // an eventfd
    std::thread thread_;
};

} // namespace ps
