// ZeroMQ's contexts and sockets, as much of them as is used here.
//
// A socket belongs to one thread at a time. Everything here throws PS_ESYSTEM with ZeroMQ's words when it is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "net/curve.h"
#include "net/zeromq/message.h"

namespace ps {

// With keys its sockets are encrypted: each end proves to the other that it has them. Which clients a bound router
// admits is decided in admission.h.
class ZmqContext {
public:
    // `longest`: bytes of a message that is received; -1: no limit.
    explicit ZmqContext(CurveKeys keys = {}, int64_t longest = -1);
    struct Inside {
        int sockets;
    };
    explicit ZmqContext(Inside most); // for inproc endpoints only: it has no thread that carries messages
    ~ZmqContext(); // its sockets must be closed
    ZmqContext(const ZmqContext &) = delete;
    ZmqContext &operator=(const ZmqContext &) = delete;

    void *raw() const { return context_; }
    const CurveKeys &keys() const { return keys_; }
    int64_t longest() const { return longest_; }

private:
    void *context_;
    CurveKeys keys_;
    int64_t longest_;
};

enum class ZmqOption : int {
    routing_id = 5,
    linger = 17,
    backlog = 19, // connections that wait to be taken; the system has a limit too
    longest_message = 22, // bytes, an int64_t; a peer that begins a longer one is cut off
    send_high_water = 23,
    receive_high_water = 24,
    last_endpoint = 32,
    router_mandatory = 33,
    router_handover = 56,
    connect_routing_id = 61, // of the next peer that it connects to
    receive_timeout = 27, // milliseconds
    heartbeat_interval = 75, // milliseconds, like the next
    heartbeat_timeout = 77,
    curve_server = 47,
    curve_public_key = 48,
    curve_secret_key = 49,
    curve_server_key = 50,
};

// What happens to a socket's connection. `connected`: both ends have introduced themselves.
enum class ZmqEvent : uint16_t { none = 0, disconnected = 0x200, connected = 0x1000 };

class ZmqSocket {
public:
    enum Type : int { pair = 0, reply = 4, dealer = 5, router = 6 };

    ZmqSocket(ZmqContext &context, Type type); // does not linger; its queues have no limits
    ZmqSocket(ZmqSocket &&other) noexcept;
    ZmqSocket(const ZmqSocket &) = delete;
    ZmqSocket &operator=(const ZmqSocket &) = delete;
    ~ZmqSocket();

    void set(ZmqOption option, int value);
    void set(ZmqOption option, int64_t value);
    void set(ZmqOption option, const std::string &value);
    std::string bind(const std::string &endpoint); // returns the one that was taken
    void connect(const std::string &endpoint);

    // None of these waits. False: the peer is not connected (of a router), or nothing is there.
    bool send(const std::string &peer, Message &&message); // from a router; if it was not sent, the message is whole
    bool send(Message &&message);
    bool send(const std::vector<std::string> &parts);
    bool receive(ZmqMessage *part);
    bool receive_within(double seconds, ZmqMessage *part); // this one waits; false also after a signal

    // False: everything was received, and wait_for_any will tell when there is more. To try would only cost time.
    bool may_have_more() const { return !is_read_; }
    void look_again() { is_read_ = false; }
    void nothing_came() { is_read_ = true; } // after sending, which may receive: the caller knows that it did not

    // To be called before it connects or is bound. Returns a socket that tells of this one's `events`.
    ZmqSocket monitor(ZmqContext &context, int events = int(ZmqEvent::connected) | int(ZmqEvent::disconnected));
    void stop_monitor();   // before that socket is closed
    ZmqEvent next_event(std::string *endpoint); // of such a socket; `none`: no event of those that ZmqEvent has

    void *raw() const { return socket_; }

private:
    void prove_keys(bool is_bound);
    bool send_copy(const char *bytes, size_t size, int flags);
    bool send_message(void *message);
    static bool has_sent(int code);

    void *socket_;
    const CurveKeys &keys_; // of its context
    int descriptor_;
    int receive_timeout_ = -1; // milliseconds; -1: none
    bool is_read_ = false; // everything was received; the descriptor will tell when there is more
    friend bool wait_for_any(const std::vector<ZmqSocket *> &, int, double, bool *);
};

// Wait until one of the sockets may have more or the descriptor (-1: none) has something to read, at most `seconds`.
// `rang`: the descriptor has. False: neither.
bool wait_for_any(const std::vector<ZmqSocket *> &sockets, int descriptor, double seconds, bool *rang = nullptr);

} // namespace ps
