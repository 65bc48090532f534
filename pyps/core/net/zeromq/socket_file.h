// The file of an endpoint "ipc://PATH", which ZeroMQ leaves behind.
#pragma once

#include <sys/types.h>

#include <string>

namespace ps {

// Of an endpoint that was bound; for one of another scheme there is no file. The destructor removes the file, unless
// another one has replaced it.
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
