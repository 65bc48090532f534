// The file of an endpoint "ipc://PATH", which ZeroMQ leaves behind.
#pragma once

#include <sys/types.h>

#include <string>

namespace ps {

// Of a bound endpoint; of any other kind it is nothing. The file goes with this, unless another one has taken its
// place.
class SocketFile {
public:
    SocketFile() = default;
    explicit SocketFile(const std::string &endpoint);
    SocketFile(const SocketFile &) = delete;
    SocketFile &operator=(SocketFile &&other) noexcept;
    ~SocketFile();

private:
    std::string path_; // or empty
    dev_t device_ = 0;
    ino_t inode_ = 0;
};

} // namespace ps
