#include "net/break_watch.h"

#include <algorithm>
#include <cmath>

namespace ps {

BreakWatch::BreakWatch(ZmqSocket &socket, ZmqContext &context, double interval, double silence)
    : socket_(socket), events_(socket.monitor(context)) {
    constexpr double most = 32767; // seconds that TCP takes
    int seconds = int(std::clamp(std::ceil(interval), 1.0, most));
    socket.set(ZmqOption::tcp_keepalive, 1);
    socket.set(ZmqOption::tcp_keepalive_idle, seconds);
    socket.set(ZmqOption::tcp_keepalive_interval, seconds);
    socket.set(ZmqOption::tcp_retransmission_limit, int(std::clamp(silence, 1.0, most) * 1000));
}

// Otherwise ZeroMQ's thread would wait for ever for somebody to take the next event.
BreakWatch::~BreakWatch() { socket_.stop_monitor(); }

bool BreakWatch::has_broken() {
    bool broken = false;
    for (ZmqEvent event; (event = events_.next_event()) != ZmqEvent::none;) {
        broken |= connected_;
        connected_ = event == ZmqEvent::connected;
    }
    return broken;
}

} // namespace ps
