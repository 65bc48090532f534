// What shows other nodes that this process lives: the socket that listens at an endpoint, and the connections that it
// has accepted.
//
// A forked child has copies of them. If they stayed open when this process is killed, other nodes would notice its end
// only by its silence. So a child closes its copies at once. It does not need them: only ZeroMQ's threads use them, and
// a child has none of these.
#pragma once

#include <string>

namespace ps {

class SignOfLife {
public:
    SignOfLife() = default;
    explicit SignOfLife(const std::string &endpoint); // the endpoint must be bound
    SignOfLife(const SignOfLife &) = delete;
    SignOfLife &operator=(SignOfLife &&other) noexcept;
    ~SignOfLife();

private:
    std::string endpoint_; // empty: none
};

} // namespace ps
