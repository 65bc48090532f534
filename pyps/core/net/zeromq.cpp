#include "net/zeromq.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>

#include <atomic>
#include <climits>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>

#include "errors.h"
#include "net/limits.h"
#include "ps.h"

namespace ps {

namespace {

struct Functions {
    void *(*ctx_new)();
    int (*ctx_set)(void *, int, int);
    int (*ctx_term)(void *);
    void *(*socket)(void *, int);
    int (*close)(void *);
    int (*setsockopt)(void *, int, const void *, size_t);
    int (*getsockopt)(void *, int, void *, size_t *);
    int (*bind)(void *, const char *);
    int (*connect)(void *, const char *);
    int (*send)(void *, const void *, size_t, int);
    int (*msg_init)(void *);
    int (*msg_init_size)(void *, size_t);
    int (*msg_init_data)(void *, void *, size_t, void (*)(void *, void *), void *);
    int (*msg_send)(void *, void *, int);
    int (*msg_recv)(void *, void *, int);
    int (*msg_close)(void *);
    int (*msg_move)(void *, void *);
    void *(*msg_data)(void *);
    size_t (*msg_size)(const void *);
    int (*msg_more)(const void *);
    int (*socket_monitor)(void *, const char *, int);
    int (*curve_public)(char *, const char *);
    uint8_t *(*z85_decode)(uint8_t *, const char *);
    int (*error)();
    const char *(*strerror)(int);
};

constexpr int dont_wait = 1, send_more = 2;
constexpr int option_io_threads = 1, option_sockets = 2; // of a context
constexpr int option_descriptor = 14, option_ipv6 = 42;
constexpr int host_unreachable = EHOSTUNREACH;
constexpr size_t worth_lending = 2048; // bytes: shorter messages are copied
constexpr char variable[] = "PYPS_ZMQ"; // in the environment; read here alone

std::mutex load_mutex;
std::atomic<const Functions *> loaded{nullptr};

const Functions &zmq() {
    const Functions *functions = loaded.load(std::memory_order_acquire);
    if (!functions) fail(PS_ESYSTEM, Where{}, "ZeroMQ has not been loaded: call ps_load_zmq first");
    return *functions;
}

[[noreturn]] void fail_zmq(const char *what) {
    int code = zmq().error();
    fail(PS_ESYSTEM, Where{-1, code, 0}, "ZeroMQ: %s: %s", what, zmq().strerror(code));
}

// For IPv6 alone: with this option IPv4's addresses would become IPv6's. It counts for the next endpoint.
void allow_address(void *socket, const std::string &endpoint) {
    const int is_ipv6 = endpoint.compare(0, 7, "tcp://[") == 0;
    if (zmq().setsockopt(socket, option_ipv6, &is_ipv6, sizeof is_ipv6)) fail_zmq("IPv6 is refused");
}

void delete_bytes(void *, void *bytes) { delete static_cast<Bytes *>(bytes); }

} // namespace

void load_zmq(const char *path) {
    std::lock_guard<std::mutex> lock(load_mutex);
    if (loaded.load(std::memory_order_relaxed)) return;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail(PS_EADDRESS, Where{}, "no ZeroMQ library can be opened at '%s'; name one by %s in the environment (%s)",
             path, variable, dlerror());
    auto functions = std::make_unique<Functions>();
    auto find = [&](auto **function, const char *name) {
        *reinterpret_cast<void **>(function) = dlsym(library, name);
        if (!*function) fail(PS_EADDRESS, Where{}, "%s is no ZeroMQ library: it has no %s", path, name);
    };
    find(&functions->ctx_new, "zmq_ctx_new");
    find(&functions->ctx_set, "zmq_ctx_set");
    find(&functions->ctx_term, "zmq_ctx_term");
    find(&functions->socket, "zmq_socket");
    find(&functions->close, "zmq_close");
    find(&functions->setsockopt, "zmq_setsockopt");
    find(&functions->getsockopt, "zmq_getsockopt");
    find(&functions->bind, "zmq_bind");
    find(&functions->connect, "zmq_connect");
    find(&functions->send, "zmq_send");
    find(&functions->msg_init, "zmq_msg_init");
    find(&functions->msg_init_size, "zmq_msg_init_size");
    find(&functions->msg_init_data, "zmq_msg_init_data");
    find(&functions->msg_send, "zmq_msg_send");
    find(&functions->msg_recv, "zmq_msg_recv");
    find(&functions->msg_close, "zmq_msg_close");
    find(&functions->msg_move, "zmq_msg_move");
    find(&functions->msg_data, "zmq_msg_data");
    find(&functions->msg_size, "zmq_msg_size");
    find(&functions->msg_more, "zmq_msg_more");
    find(&functions->socket_monitor, "zmq_socket_monitor");
    find(&functions->curve_public, "zmq_curve_public");
    find(&functions->z85_decode, "zmq_z85_decode");
    find(&functions->error, "zmq_errno");
    find(&functions->strerror, "zmq_strerror");
    loaded.store(functions.release(), std::memory_order_release); // kept as long as the process
}

void load_zmq_unless_named(const std::string &path) {
    if (loaded.load(std::memory_order_acquire)) return; // another thread may be changing the environment
    const char *named = std::getenv(variable);
    load_zmq(named && *named ? named : path.c_str());
}

// The library may have been found through another that links to it, as pyzmq's is.
std::string zmq_path() {
    Dl_info found{};
    char path[PATH_MAX];
    if (!dladdr(reinterpret_cast<void *>(zmq().ctx_new), &found) || !found.dli_fname ||
        !realpath(found.dli_fname, path))
        fail(PS_ESYSTEM, Where{}, "the file of the ZeroMQ library cannot be found");
    return path;
}

void check_curve(const CurveKeys &keys) {
    constexpr size_t length = 40;
    if (keys.public_key.size() != length || keys.secret_key.size() != length)
        fail(PS_EINVAL, Where{}, "CURVE keys have %zu characters (Z85); the public one has %zu, the secret one %zu",
             length, keys.public_key.size(), keys.secret_key.size());
    char derived[length + 1] = {};
    if (zmq().curve_public(derived, keys.secret_key.c_str())) {
        if (zmq().error() == ENOTSUP) fail(PS_ESYSTEM, Where{-1, ENOTSUP, 0}, "this ZeroMQ library has no CURVE");
        fail(PS_EINVAL, Where{}, "the secret CURVE key is not one: its characters are not Z85");
    }
    if (derived != keys.public_key)
        fail(PS_EINVAL, Where{}, "the CURVE keys are no pair: to the secret one belongs the public key %s", derived);
}

std::string decode_z85(const std::string &text) {
    std::string bytes(text.size() * 4 / 5, '\0');
    if (!zmq().z85_decode(reinterpret_cast<uint8_t *>(&bytes[0]), text.c_str()))
        fail(PS_EINVAL, Where{}, "the characters of a CURVE key are not Z85");
    return bytes;
}

ZmqContext::ZmqContext(CurveKeys keys, int64_t longest)
    : context_((require_room_for_zmq(), zmq().ctx_new())), keys_(std::move(keys)), longest_(longest) {
    if (!context_) fail_zmq("no context");
}

ZmqContext::ZmqContext(Inside most) : ZmqContext() {
    if (zmq().ctx_set(context_, option_sockets, most.sockets)) fail_zmq("an option is refused");
    if (zmq().ctx_set(context_, option_io_threads, 0)) fail_zmq("an option is refused");
}

ZmqContext::~ZmqContext() {
    while (zmq().ctx_term(context_) != 0 && zmq().error() == EINTR) {
    }
}

ZmqMessage::ZmqMessage() { zmq().msg_init(raw_); }
ZmqMessage::ZmqMessage(size_t bytes) {
    if (zmq().msg_init_size(raw_, bytes))
        fail(PS_ENOMEM, Where{-1, int64_t(bytes), 0}, "no memory for a message of %zu bytes", bytes);
}
ZmqMessage::ZmqMessage(ZmqMessage &&other) noexcept {
    zmq().msg_init(raw_);
    zmq().msg_move(raw_, other.raw_);
}
ZmqMessage::~ZmqMessage() { zmq().msg_close(raw_); }
const char *ZmqMessage::data() const { return static_cast<const char *>(zmq().msg_data(raw_)); }
char *ZmqMessage::data() { return static_cast<char *>(zmq().msg_data(raw_)); }
size_t ZmqMessage::size() const { return zmq().msg_size(raw_); }
bool ZmqMessage::more() const { return zmq().msg_more(raw_); }

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

// To whom it is connected, or whoever connects to it.
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
    : socket_(other.socket_), keys_(other.keys_), descriptor_(other.descriptor_), is_read_(other.is_read_) {
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

bool ZmqSocket::send_part(Bytes &&part, int flags) {
    look_again();
    flags |= dont_wait;
    int sent;
    if (part.size() < worth_lending) {
        do sent = zmq().send(socket_, part.data(), part.size(), flags);
        while (sent < 0 && zmq().error() == EINTR);
    } else {
        auto lent = std::make_unique<Bytes>(std::move(part));
        alignas(8) char message[64];
        zmq().msg_init_data(message, lent->data(), lent->size(), delete_bytes, lent.get());
        lent.release();
        do sent = zmq().msg_send(message, socket_, flags);
        while (sent < 0 && zmq().error() == EINTR);
        int code = sent < 0 ? zmq().error() : 0;
        if (sent < 0) zmq().msg_close(message);
        if (code == host_unreachable || code == EAGAIN) return false;
    }
    if (sent >= 0) return true;
    if (zmq().error() == host_unreachable || zmq().error() == EAGAIN) return false;
    fail_zmq("cannot send");
}

bool ZmqSocket::send_name(const std::string &peer) { return send_part(Bytes(peer.begin(), peer.end()), send_more); }

bool ZmqSocket::send(const std::string &peer, Bytes &&message) {
    return send_name(peer) && send_part(std::move(message), 0);
}

bool ZmqSocket::send(Bytes message) { return send_part(std::move(message), 0); }

bool ZmqSocket::send(const std::string &peer, ZmqMessage &message) { return send_name(peer) && send(message); }

bool ZmqSocket::send(ZmqMessage &message) {
    look_again();
    int sent;
    do sent = zmq().msg_send(message.raw_, socket_, dont_wait);
    while (sent < 0 && zmq().error() == EINTR);
    if (sent >= 0) return true;
    if (zmq().error() == host_unreachable || zmq().error() == EAGAIN) return false;
    fail_zmq("cannot send");
}

bool ZmqSocket::send(const std::vector<std::string> &parts) {
    for (size_t i = 0; i < parts.size(); i++)
        if (!send_part(Bytes(parts[i].begin(), parts[i].end()), i + 1 < parts.size() ? send_more : 0)) return false;
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

// zmq_poll asks the system twice before it waits and every socket afterwards; one poll of their descriptors is enough.
// A descriptor tells only of what came since the socket had nothing left to read, unless something else was done with
// it.
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
