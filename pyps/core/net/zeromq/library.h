// The part of ZeroMQ that is used here, from a library that is opened at run time: pyzmq's own, or the system's. So it
// is not needed for building, and a process never has two copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace ps {

// Both are idempotent, and throw PS_EADDRESS if there is no such library.
void load_zmq(const char *path);
void load_zmq_unless_named(const std::string &path); // the file that PYPS_ZMQ names in the environment, else `path`
std::string zmq_path(); // the file that was loaded, which another process has to open as well

std::string decode_z85(const std::string &text);

struct ZmqFunctions {
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

const ZmqFunctions &zmq(); // throws PS_ESYSTEM if none was loaded
[[noreturn]] void fail_zmq(const char *what); // throws PS_ESYSTEM with ZeroMQ's text for its last error

} // namespace ps
