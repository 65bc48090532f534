#include "net/zeromq/socket_file.h"

#include <sys/stat.h>
#include <unistd.h>

#include <utility>

namespace ps {

SocketFile::SocketFile(const std::string &endpoint) {
    constexpr char scheme[] = "ipc://";
    constexpr size_t length = sizeof scheme - 1;
    struct stat status;
    if (endpoint.compare(0, length, scheme) != 0 || endpoint[length] == '@') return; // '@': it has no file
    std::string path = endpoint.substr(length);
    if (stat(path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return;
    path_ = std::move(path);
    device_ = status.st_dev;
    inode_ = status.st_ino;
}

SocketFile &SocketFile::operator=(SocketFile &&other) noexcept {
    std::swap(path_, other.path_);
    std::swap(device_, other.device_);
    std::swap(inode_, other.inode_);
    return *this;
}

SocketFile::~SocketFile() {
    struct stat status;
    if (!path_.empty() && stat(path_.c_str(), &status) == 0 && status.st_dev == device_ && status.st_ino == inode_)
        unlink(path_.c_str());
}

} // namespace ps
