#include "net/zeromq/probe.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>

namespace ps {

void Probe::start(double now, double timeout) {
    stop();
    refused_ = false;
    pending_ = true;
    end_ = now + timeout;
    if (!address_.bytes) return;
    socket_ = socket(address_.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket_ < 0) return;
    int done = connect(socket_, address_.get(), address_.bytes);
    refused_ = done < 0 && errno == ECONNREFUSED;
}

Reach Probe::look(double now) {
    pollfd item{socket_, POLLOUT, 0};
    int code = 0;
    socklen_t size = sizeof code;
    bool ended = false;
    if (!refused_ && socket_ >= 0 && poll(&item, 1, 0) == 1) {
        ended = true;
        getsockopt(socket_, SOL_SOCKET, SO_ERROR, &code, &size);
        refused_ = code == ECONNREFUSED;
    }
    if (!refused_ && !ended && now < end_) return Reach::unknown;
    stop();
    return refused_ ? Reach::refused : Reach::open;
}

void Probe::stop() {
    if (socket_ >= 0) close(socket_);
    socket_ = -1;
    pending_ = false;
}

} // namespace ps
