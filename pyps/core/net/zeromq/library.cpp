#include "net/zeromq/library.h"

#include <dlfcn.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <memory>
#include <mutex>

#include "errors.h"
#include "net/curve.h"
#include "ps.h"

namespace ps {

namespace {

constexpr char variable[] = "PYPS_ZMQ"; // of the environment; only read here

std::mutex load_mutex;
std::atomic<const ZmqFunctions *> loaded{nullptr};

} // namespace

const ZmqFunctions &zmq() {
    const ZmqFunctions *functions = loaded.load(std::memory_order_acquire);
    if (!functions) fail(PS_ESYSTEM, Where{}, "ZeroMQ has not been loaded: call ps_load_zmq first");
    return *functions;
}

void fail_zmq(const char *what) {
    int code = zmq().error();
    fail(PS_ESYSTEM, Where{-1, code, 0}, "ZeroMQ: %s: %s", what, zmq().strerror(code));
}

void load_zmq(const char *path) {
    std::lock_guard<std::mutex> lock(load_mutex);
    if (loaded.load(std::memory_order_relaxed)) return;
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library)
        fail(PS_EADDRESS, Where{}, "no ZeroMQ library can be opened at '%s'; name one by %s in the environment (%s)",
             path, variable, dlerror());
    auto functions = std::make_unique<ZmqFunctions>();
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

// Looks where a function of it lies: the name that was opened may have been another library that links to ZeroMQ, as
// pyzmq's extension module does.
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

} // namespace ps
