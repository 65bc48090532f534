// The part of ZeroMQ's contexts and sockets that is used here.
//
// A socket belongs to one thread at a time. What ZeroMQ refuses throws PS_ESYSTEM with its text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "net/curve.h"
#include "net/zeromq/message.h"

namespace ps {

// If it has keys, its sockets are encrypted: each end proves to the other that it has them. Which clients a bound
// router admits is decided in admission.h.
class ZmqContext {
public:
    // `longest`: most bytes of a message that is received; -1: no limit. `threads`: how many carry messages. ZeroMQ
    // gives a new connection to the one that has the fewest.
    explicit ZmqContext(CurveKeys keys = {}, int64_t longest = -1, int threads = 1);
    struct Inside {
        int sockets;
    };
    // For inproc endpoints only: it has no thread that carries messages. `most`: how many sockets it may have.
    explicit ZmqContext(Inside most);
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
    backlog = 19, // connections that wait to be accepted; the system has a limit as well
    longest_message = 22, // bytes, an int64_t; a peer that sends a longer message is disconnected
    send_high_water = 23,
    receive_high_water = 24,
    last_endpoint = 32,
    router_mandatory = 33,
    router_handover = 56,
    connect_routing_id = 61, // names the next peer that it connects to
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

    ZmqSocket(ZmqContext &context, Type type); // closing it drops what was not sent yet; its queues have no limits
    ZmqSocket(ZmqSocket &&other) noexcept;
    ZmqSocket(const ZmqSocket &) = delete;
    ZmqSocket &operator=(const ZmqSocket &) = delete;
    ~ZmqSocket();

    void set(ZmqOption option, int value);
    void set(ZmqOption option, int64_t value);
    void set(ZmqOption option, const std::string &value);
    std::string bind(const std::string &endpoint); // returns it with the port that was chosen
    void connect(const std::string &endpoint);

    // None of these waits. False: a router has no connection to the peer, or nothing has come.
    bool send(const std::string &peer, Message &&message); // from a router; a message that was not sent is unchanged
    bool send(Message &&message);
    bool send(const std::vector<std::string> &parts);
    bool receive(ZmqMessage *part);
    bool receive_within(double seconds, ZmqMessage *part); // this one waits; false also after a signal

    // False: everything was received, so trying to receive would only cost time. wait_for_any tells when there is more.
    bool may_have_more() const { return !is_read_; }
    void look_again() { is_read_ = false; }
    // After sending, which may take in messages: the caller knows that none came.
    void nothing_came() { is_read_ = true; }

    // Call it before the socket connects or is bound. Returns a socket that receives this one's `events`.
    ZmqSocket monitor(ZmqContext &context, int events = int(ZmqEvent::connected) | int(ZmqEvent::disconnected));
    void stop_monitor(); // call it before that socket is closed
    // The next event from such a socket; `none` also for an event that ZmqEvent does not have.
    ZmqEvent next_event(std::string *endpoint);

    void *raw() const { return socket_; }

private:
    void prove_keys(bool is_bound);
    bool send_copy(const char *bytes, size_t size, int flags);
    bool send_message(void *message);
    static bool has_sent(int code);

    void *socket_;
    const CurveKeys &keys_; // the context's
    int descriptor_;
    int receive_timeout_ = -1; // milliseconds; -1: none
    bool is_read_ = false; // everything was received; the descriptor tells when there is more
    friend bool wait_for_any(const std::vector<ZmqSocket *> &, int, double, bool *);
};

// Wait until one of the sockets may have a message, the descriptor (-1: none) has something to read, or the time is
// over. `rang`: the descriptor has something to read. Returns false if the time is over.
bool wait_for_any(const std::vector<ZmqSocket *> &sockets, int descriptor, double seconds, bool *rang = nullptr);

} // namespace ps
