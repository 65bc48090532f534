// The file of an endpoint "ipc://PATH", which ZeroMQ does not remove.
#pragma once

#include <sys/types.h>

#include <string>

namespace ps {

// Made for an endpoint that is bound; endpoints of other schemes have no file. The destructor removes the file, unless
// another one has taken its place.
class SocketFile {
public:
    SocketFile() = default;
    explicit SocketFile(const std::string &endpoint);
    SocketFile(const SocketFile &) = delete;
    SocketFile &operator=(SocketFile &&other) noexcept;
    ~SocketFile();

private:
    std::string path_; // empty: there is no file
    dev_t device_ = 0;
    ino_t inode_ = 0;
};

} // namespace ps
