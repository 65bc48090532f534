// One part of a message of ZeroMQ's.
#pragma once

#include <cstddef>

#include "net/message.h"

namespace ps {

// Received, or to be filled and sent.
class ZmqMessage {
public:
    ZmqMessage();
    explicit ZmqMessage(size_t bytes); // not initialised; throws PS_ENOMEM
    ZmqMessage(ZmqMessage &&other) noexcept;
    ~ZmqMessage();
    ZmqMessage(const ZmqMessage &) = delete;
    ZmqMessage &operator=(const ZmqMessage &) = delete;

    const char *data() const;
    char *data();
    size_t size() const;
    bool more() const; // more parts of the message follow

private:
    friend class ZmqSocket;
    alignas(8) mutable char raw_[64];
};

// Such a part as a message of any transport's. Nothing is copied.
Message room_of_zmq(size_t bytes); // to be filled and sent; throws PS_ENOMEM

} // namespace ps
