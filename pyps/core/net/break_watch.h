// Whether a dealer's connection has broken since its first handshake: ZeroMQ connects again by itself, but what was on
// its way then may be lost, and nothing else tells of it.
#pragma once

#include "net/zeromq.h"

namespace ps {

class BreakWatch {
public:
    // Before the socket connects. It must outlive this. An end that does not read breaks the connection as well, after
    // `silence` seconds at most: it vanished without a word, say.
    BreakWatch(ZmqSocket &socket, ZmqContext &context, double silence);
    BreakWatch(const BreakWatch &) = delete;
    BreakWatch &operator=(const BreakWatch &) = delete;
    ~BreakWatch();

    bool has_broken(); // since it was asked last
    ZmqSocket &events() { return events_; } // to wait for

private:
    ZmqSocket &socket_;
    ZmqSocket events_;
    bool connected_ = false;
};

} // namespace ps
