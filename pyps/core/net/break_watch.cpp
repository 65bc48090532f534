#include "net/break_watch.h"

#include <algorithm>

namespace ps {

// A question is sent every quarter of that time and may be on its way for the rest of it. What it asks for is read and
// answered in order with the messages: ZeroMQ, when another connection has taken this one's name, keeps it open and
// reads no more of it, which neither TCP nor a link of its own would tell.
BreakWatch::BreakWatch(ZmqSocket &socket, ZmqContext &context, double silence)
    : socket_(socket), events_(socket.monitor(context)) {
    constexpr double most = 1e6; // seconds, in milliseconds an int
    double quarter = std::min(silence, most) / 4;
    socket.set(ZmqOption::heartbeat_interval, std::max(1, int(quarter * 1000)));
    socket.set(ZmqOption::heartbeat_timeout, std::max(1, int(3 * quarter * 1000)));
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
