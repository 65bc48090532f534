#include "net/probe.h"

#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace ps {

void Probe::aim(const std::string &endpoint) {
    const std::string scheme = "tcp://";
    size_t colon = endpoint.rfind(':');
    if (endpoint.compare(0, scheme.size(), scheme) != 0 || colon == std::string::npos || colon < scheme.size()) return;
    std::string host = endpoint.substr(scheme.size(), colon - scheme.size()), port = endpoint.substr(colon + 1);
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
    addrinfo hints{}, *found = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    hints.ai_flags = AI_NUMERICSERV;
    if (getaddrinfo(host.c_str(), port.c_str(), &hints, &found) != 0) return;
    std::memcpy(&address_, found->ai_addr, found->ai_addrlen);
    address_bytes_ = found->ai_addrlen;
    freeaddrinfo(found);
}

void Probe::start(double now, double timeout) {
    stop();
    refused_ = false;
    pending_ = true;
    end_ = now + timeout;
    if (!address_bytes_) return;
    socket_ = socket(address_.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket_ < 0) return;
    int done = connect(socket_, reinterpret_cast<sockaddr *>(&address_), address_bytes_);
    refused_ = done < 0 && errno == ECONNREFUSED;
}

Probe::Result Probe::look(double now) {
    pollfd item{socket_, POLLOUT, 0};
    int code = 0;
    socklen_t size = sizeof code;
    bool ended = false;
    if (!refused_ && socket_ >= 0 && poll(&item, 1, 0) == 1) {
        ended = true;
        getsockopt(socket_, SOL_SOCKET, SO_ERROR, &code, &size);
        refused_ = code == ECONNREFUSED;
    }
    if (!refused_ && !ended && now < end_) return Result::pending;
    stop();
    return refused_ ? Result::refused : Result::open;
}

void Probe::stop() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
    pending_ = false;
}

} // namespace ps
