// ZeroMQ, as much of it as is used here, from a library that is opened at run time: pyzmq's own, or the system's. No
// header of it is needed and there is never a second copy.
//
// A socket belongs to one thread at a time. Everything here throws PS_ESYSTEM with ZeroMQ's words when it is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ps {

using Bytes = std::vector<char>;

// Both are idempotent, and throw PS_EADDRESS if there is no such library.
void load_zmq(const char *path);
void load_zmq_unless_named(const std::string &path); // what the environment's PYPS_ZMQ names comes before `path`
std::string zmq_path(); // of the file that was loaded: what another process opens

class ZmqContext {
public:
    ZmqContext();
    ~ZmqContext(); // its sockets must be closed
    ZmqContext(const ZmqContext &) = delete;
    ZmqContext &operator=(const ZmqContext &) = delete;

    void *raw() const { return context_; }

private:
    void *context_;
};

enum class ZmqOption : int {
    routing_id = 5,
    linger = 17,
    send_high_water = 23,
    receive_high_water = 24,
    last_endpoint = 32,
    router_mandatory = 33,
    router_handover = 56,
    heartbeat_interval = 75, // milliseconds, like the next
    heartbeat_timeout = 77,
};

// One part of a message: received, or to be filled and sent.
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
    bool more() const; // parts follow

private:
    friend class ZmqSocket;
    alignas(8) mutable char raw_[64];
};

// What happens to a socket's connection: it is there and both sides have introduced themselves; it was there.
enum class ZmqEvent : uint16_t { none = 0, disconnected = 0x200, connected = 0x1000 };

class ZmqSocket {
public:
    enum Type : int { pair = 0, dealer = 5, router = 6 };

    ZmqSocket(ZmqContext &context, Type type); // lingers not, has no limits of its own
    ZmqSocket(ZmqSocket &&other) noexcept;
    ZmqSocket(const ZmqSocket &) = delete;
    ZmqSocket &operator=(const ZmqSocket &) = delete;
    ~ZmqSocket();

    void set(ZmqOption option, int value);
    void set(ZmqOption option, const std::string &value);
    std::string bind(const std::string &endpoint); // returns the one that was taken
    void connect(const std::string &endpoint);

    // Nothing of these waits. False: the peer is not connected (a router), or nothing is there.
    bool send(const std::string &peer, Bytes message); // from a router
    bool send(Bytes message);
    bool send(const std::string &peer, ZmqMessage &message); // if it was sent, the message is empty
    bool send(ZmqMessage &message);
    bool receive(ZmqMessage *part);

    ZmqSocket monitor(ZmqContext &context); // before it connects: a socket that tells what happens to this one
    ZmqEvent next_event();                  // of such a socket; none: nothing that matters

    void *raw() const { return socket_; }

private:
    bool send_part(Bytes &&part, int flags);
    bool send_name(const std::string &peer);

    void *socket_;
    int descriptor_;
    friend bool wait_for_any(const std::vector<ZmqSocket *> &, int, double);
};

// Wait until one of the sockets, or the descriptor (-1: none), has something; at most `seconds`. False: nothing. True may
// come too early: all that is known then is that it is worth looking.
bool wait_for_any(const std::vector<ZmqSocket *> &sockets, int descriptor, double seconds);

} // namespace ps
