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

// Its sockets are encrypted if it has keys: one that is bound proves to have them, others prove it to that one. Who may
// speak to a router is decided elsewhere: see admission.h.
class ZmqContext {
public:
    // `longest`: bytes of a message that is received; -1: no limit.
    explicit ZmqContext(CurveKeys keys = {}, int64_t longest = -1);
    struct Inside {
        int sockets;
    };
    explicit ZmqContext(Inside most); // for inproc endpoints alone: no thread carries what is sent there
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
    heartbeat_interval = 75, // milliseconds, like the next
    heartbeat_timeout = 77,
    curve_server = 47,
    curve_public_key = 48,
    curve_secret_key = 49,
    curve_server_key = 50,
};

// What happens to a socket's connection: it is there and both sides have introduced themselves; it was there.
enum class ZmqEvent : uint16_t { none = 0, disconnected = 0x200, connected = 0x1000 };

class ZmqSocket {
public:
    enum Type : int { pair = 0, reply = 4, dealer = 5, router = 6 };

    ZmqSocket(ZmqContext &context, Type type); // lingers not, has no limits of its own
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

    // False: nothing can be there before wait_for_any has said so, and asking would only cost time.
    bool may_have_more() const { return !is_read_; }
    void look_again() { is_read_ = false; }
    void nothing_came() { is_read_ = true; } // the caller knows, after sending something

    // Before it connects or is bound: a socket that tells what happens to this one, by default what ZmqEvent has.
    ZmqSocket monitor(ZmqContext &context, int events = int(ZmqEvent::connected) | int(ZmqEvent::disconnected));
    void stop_monitor();   // before that socket is closed
    ZmqEvent next_event(std::string *endpoint); // of such a socket; none: nothing that matters

    void *raw() const { return socket_; }

private:
    void prove_keys(bool is_bound);
    bool send_copy(const char *bytes, size_t size, int flags);
    bool send_message(void *message);
    static bool has_sent(int code);

    void *socket_;
    const CurveKeys &keys_; // of its context
    int descriptor_;
    bool is_read_ = false; // all that had come; what comes from then on is told by the descriptor
    friend bool wait_for_any(const std::vector<ZmqSocket *> &, int, double, bool *);
};

// Wait until one of the sockets may have more, or the descriptor (-1: none) has something, which `rang` says; at most
// `seconds`. False: nothing.
bool wait_for_any(const std::vector<ZmqSocket *> &sockets, int descriptor, double seconds, bool *rang = nullptr);

} // namespace ps
