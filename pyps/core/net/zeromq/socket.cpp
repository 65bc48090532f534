#include "net/zeromq/socket.h"

#include <poll.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <memory>
#include <utility>

#include "errors.h"
#include "net/zeromq/library.h"
#include "net/zeromq/limits.h"

namespace ps {

namespace {

constexpr int dont_wait = 1, send_more = 2;
constexpr int option_io_threads = 1, option_sockets = 2; // these two are a context's
constexpr int option_descriptor = 14, option_ipv6 = 42;
constexpr int host_unreachable = EHOSTUNREACH;
constexpr double most_seconds = 1e6; // in milliseconds still an int
constexpr size_t worth_lending = 2048; // bytes: shorter messages are copied

// Allow IPv6 only for an IPv6 address: else ZeroMQ would turn IPv4 addresses into IPv6 ones. It applies to the next
// endpoint.
void allow_address(void *socket, const std::string &endpoint) {
    const int is_ipv6 = endpoint.compare(0, 7, "tcp://[") == 0;
    if (zmq().setsockopt(socket, option_ipv6, &is_ipv6, sizeof is_ipv6)) fail_zmq("IPv6 is refused");
}

void delete_lent(void *, void *message) { delete static_cast<Message *>(message); }

} // namespace

ZmqContext::ZmqContext(CurveKeys keys, int64_t longest, int threads)
    : context_((require_room_for_zmq(size_t(threads)), zmq().ctx_new())), keys_(std::move(keys)), longest_(longest) {
    if (!context_) fail_zmq("no context");
    if (zmq().ctx_set(context_, option_io_threads, threads)) fail_zmq("an option is refused");
}

ZmqContext::ZmqContext(Inside most) : ZmqContext() {
    if (zmq().ctx_set(context_, option_sockets, most.sockets)) fail_zmq("an option is refused");
    if (zmq().ctx_set(context_, option_io_threads, 0)) fail_zmq("an option is refused");
}

ZmqContext::~ZmqContext() {
    while (zmq().ctx_term(context_) != 0 && zmq().error() == EINTR) {
    }
}

ZmqSocket::ZmqSocket(ZmqContext &context, Type type)
    : socket_(zmq().socket(context.raw(), type)), keys_(context.keys()) {
    if (!socket_) fail_zmq("no socket");
    set(ZmqOption::linger, 0);
    set(ZmqOption::send_high_water, 0);
    set(ZmqOption::receive_high_water, 0);
    set(ZmqOption::longest_message, context.longest());
    size_t size = sizeof descriptor_;
    if (zmq().getsockopt(socket_, option_descriptor, &descriptor_, &size)) fail_zmq("no descriptor");
}

// An end that is bound proves that it has the secret key. An end that connects does that too, and checks the other end.
void ZmqSocket::prove_keys(bool is_bound) {
    if (keys_.public_key.empty()) return;
    if (is_bound) {
        set(ZmqOption::curve_server, 1);
    } else {
        set(ZmqOption::curve_server_key, keys_.public_key);
        set(ZmqOption::curve_public_key, keys_.public_key);
    }
    set(ZmqOption::curve_secret_key, keys_.secret_key);
}

ZmqSocket::ZmqSocket(ZmqSocket &&other) noexcept
    : socket_(other.socket_), keys_(other.keys_), descriptor_(other.descriptor_),
      receive_timeout_(other.receive_timeout_), is_read_(other.is_read_) {
    other.socket_ = nullptr;
}

ZmqSocket::~ZmqSocket() {
    if (socket_) zmq().close(socket_);
}

void ZmqSocket::set(ZmqOption option, int value) {
    look_again();
    if (zmq().setsockopt(socket_, int(option), &value, sizeof value)) fail_zmq("an option is refused");
}

void ZmqSocket::set(ZmqOption option, int64_t value) {
    look_again();
    if (zmq().setsockopt(socket_, int(option), &value, sizeof value)) fail_zmq("an option is refused");
}

void ZmqSocket::set(ZmqOption option, const std::string &value) {
    look_again();
    if (zmq().setsockopt(socket_, int(option), value.data(), value.size())) fail_zmq("an option is refused");
}

std::string ZmqSocket::bind(const std::string &endpoint) {
    look_again();
    allow_address(socket_, endpoint);
    prove_keys(true);
    if (zmq().bind(socket_, endpoint.c_str())) fail_zmq(("cannot bind " + endpoint).c_str());
    char taken[256];
    size_t size = sizeof taken;
    if (zmq().getsockopt(socket_, int(ZmqOption::last_endpoint), taken, &size)) fail_zmq("no endpoint");
    return std::string(taken);
}

void ZmqSocket::connect(const std::string &endpoint) {
    look_again();
    allow_address(socket_, endpoint);
    prove_keys(false);
    if (zmq().connect(socket_, endpoint.c_str())) fail_zmq(("cannot connect to " + endpoint).c_str());
}

bool ZmqSocket::has_sent(int code) {
    if (code >= 0) return true;
    if (zmq().error() == host_unreachable || zmq().error() == EAGAIN) return false;
    fail_zmq("cannot send");
}

bool ZmqSocket::send_copy(const char *bytes, size_t size, int flags) {
    look_again();
    int sent;
    do sent = zmq().send(socket_, bytes, size, flags | dont_wait);
    while (sent < 0 && zmq().error() == EINTR);
    return has_sent(sent);
}

bool ZmqSocket::send_message(void *message) {
    look_again();
    int sent;
    do sent = zmq().msg_send(message, socket_, dont_wait);
    while (sent < 0 && zmq().error() == EINTR);
    return has_sent(sent);
}

// Sends the last part of a message. Long ones are lent to ZeroMQ, which frees them when they have been sent.
bool ZmqSocket::send(Message &&message) {
    if (auto *own = message.held_as<ZmqMessage>()) return send_message(own->raw_);
    if (message.size() < worth_lending) return send_copy(message.data(), message.size(), 0);
    auto lent = std::make_unique<Message>(std::move(message));
    ZmqMessage lending;
    zmq().msg_init_data(lending.raw_, lent->data(), lent->size(), delete_lent, lent.get());
    lent.release();
    return send_message(lending.raw_);
}

bool ZmqSocket::send(const std::string &peer, Message &&message) {
    return send_copy(peer.data(), peer.size(), send_more) && send(std::move(message));
}

bool ZmqSocket::send(const std::vector<std::string> &parts) {
    for (size_t i = 0; i < parts.size(); i++)
        if (!send_copy(parts[i].data(), parts[i].size(), i + 1 < parts.size() ? send_more : 0)) return false;
    return true;
}

void ZmqSocket::stop_monitor() {
    look_again();
    if (zmq().socket_monitor(socket_, nullptr, 0)) fail_zmq("a monitor stays");
}

bool ZmqSocket::receive(ZmqMessage *part) {
    int received;
    do received = zmq().msg_recv(part->raw_, socket_, dont_wait);
    while (received < 0 && zmq().error() == EINTR);
    if (received >= 0) return true;
    if (zmq().error() == EAGAIN) {
        is_read_ = true;
        return false;
    }
    fail_zmq("cannot receive");
}

bool ZmqSocket::receive_within(double seconds, ZmqMessage *part) {
    auto timeout = int(std::ceil(std::min(seconds, most_seconds) * 1000));
    if (timeout != receive_timeout_) set(ZmqOption::receive_timeout, receive_timeout_ = timeout);
    if (zmq().msg_recv(part->raw_, socket_, 0) >= 0) return true;
    if (zmq().error() == EAGAIN || zmq().error() == EINTR) return false;
    fail_zmq("cannot receive");
}

ZmqSocket ZmqSocket::monitor(ZmqContext &context, int events) {
    static std::atomic<uint64_t> count{0};
    std::string name = "inproc://monitor-" + std::to_string(++count);
    if (zmq().socket_monitor(socket_, name.c_str(), events)) fail_zmq("no monitor");
    ZmqSocket monitor(context, pair);
    monitor.connect(name);
    return monitor;
}

ZmqEvent ZmqSocket::next_event(std::string *endpoint) {
    ZmqMessage event, address;
    if (!receive(&event) || !event.more() || !receive(&address)) return ZmqEvent::none;
    endpoint->assign(address.data(), address.size());
    uint16_t number = 0;
    if (event.size() >= sizeof number) std::memcpy(&number, event.data(), sizeof number);
    return number == uint16_t(ZmqEvent::connected) || number == uint16_t(ZmqEvent::disconnected) ? ZmqEvent(number)
                                                                                                 : ZmqEvent::none;
}

// zmq_poll makes two system calls before it waits, and asks every socket afterwards; one poll of their descriptors is
// enough. But a descriptor reports a message only if the socket was read until it was empty, and nothing else was done
// with it since then.
bool wait_for_any(const std::vector<ZmqSocket *> &sockets, int descriptor, double seconds, bool *rang) {
    std::vector<pollfd> items;
    items.reserve(sockets.size() + 1);
    bool any = false;
    for (ZmqSocket *socket : sockets) {
        any |= socket->may_have_more();
        items.push_back({socket->descriptor_, POLLIN, 0});
    }
    if (descriptor >= 0) items.push_back({descriptor, POLLIN, 0});
    if (any) seconds = 0;
    auto whole = std::floor(seconds);
    timespec limit{time_t(whole), long((seconds - whole) * 1e9)};
    int ready = ::ppoll(items.data(), items.size(), &limit, nullptr);
    if (ready < 0 && errno != EINTR) fail_with_errno("ppoll");
    for (size_t i = 0; ready > 0 && i < sockets.size(); i++)
        if (items[i].revents) sockets[i]->look_again();
    if (rang) *rang = ready > 0 && descriptor >= 0 && items.back().revents;
    return any || ready > 0;
}

} // namespace ps
