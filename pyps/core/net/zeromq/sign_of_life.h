// What tells others that this process lives: the socket that listens at an endpoint, and the connections that it took.
//
// A forked child has copies of them, which would stay open when this process is killed: the others would wait for a
// node that is gone until its silence tells. So a child closes its copies at once. None of ZeroMQ's threads, which
// alone use them, is in it.
#pragma once

#include <string>

namespace ps {

class SignOfLife {
public:
    SignOfLife() = default;
    explicit SignOfLife(const std::string &endpoint); // that is bound
    SignOfLife(const SignOfLife &) = delete;
    SignOfLife &operator=(SignOfLife &&other) noexcept;
    ~SignOfLife();

private:
    std::string endpoint_; // or empty
};

} // namespace ps
