/* The bare cost of ZeroMQ: blocking round trips and streams of messages of given lengths, between a dealer and a router
 * in different processes, with nothing done to them. The peer of every remote operation: what it takes on top is ours. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

enum { ROUTER = 6, DEALER = 5, SEND_MORE = 2, LAST_ENDPOINT = 32, LINGER = 17, MOST = 4 << 20 };

typedef struct {
    void *(*ctx_new)(void);
    void *(*socket)(void *, int);
    int (*bind)(void *, const char *);
    int (*connect)(void *, const char *);
    int (*send)(void *, const void *, size_t, int);
    int (*recv)(void *, void *, size_t, int);
    int (*setsockopt)(void *, int, const void *, size_t);
    int (*getsockopt)(void *, int, void *, size_t *);
    int (*close)(void *);
    int (*ctx_term)(void *);
} zmq_functions;

typedef struct {
    zmq_functions zmq;
    void *context, *socket;
    char *out, *in;
} peer;

static peer *open_peer(const char *library, int type) {
    void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!handle) return NULL;
    peer *p = calloc(1, sizeof *p);
    const char *names[] = {"zmq_ctx_new", "zmq_socket", "zmq_bind", "zmq_connect", "zmq_send", "zmq_recv",
                           "zmq_setsockopt", "zmq_getsockopt", "zmq_close", "zmq_ctx_term"};
    void **functions = (void **)&p->zmq;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) functions[i] = dlsym(handle, names[i]);
    p->context = p->zmq.ctx_new();
    p->socket = p->zmq.socket(p->context, type);
    int none = 0;
    p->zmq.setsockopt(p->socket, LINGER, &none, sizeof none);
    p->out = calloc(1, MOST);
    p->in = calloc(1, MOST);
    return p;
}

/* Answer every message with as many bytes as its first eight say. Does not return; ends with the parent. */
int rt_serve(const char *library) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    peer *p = open_peer(library, ROUTER);
    if (!p || p->zmq.bind(p->socket, "tcp://127.0.0.1:*")) return 1;
    char endpoint[256], name[64];
    size_t size = sizeof endpoint;
    p->zmq.getsockopt(p->socket, LAST_ENDPOINT, endpoint, &size);
    printf("%s\n", endpoint);
    fflush(stdout);
    for (;;) {
        int name_size = p->zmq.recv(p->socket, name, sizeof name, 0);
        if (name_size < 0 || p->zmq.recv(p->socket, p->in, MOST, 0) < 0) return 1;
        uint64_t wanted;
        memcpy(&wanted, p->in, sizeof wanted);
        p->zmq.send(p->socket, name, (size_t)name_size, SEND_MORE);
        p->zmq.send(p->socket, p->out, wanted, 0);
    }
}

peer *rt_connect(const char *library, const char *endpoint) {
    peer *p = open_peer(library, DEALER);
    if (p && p->zmq.connect(p->socket, endpoint)) return NULL;
    return p;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Seconds for so many messages and their answers, of which at most `ahead` are on their way at once: 1 is a round trip
 * at a time. Negative if a send or receive failed. */
double rt_exchange(peer *p, uint64_t request, uint64_t answer, int count, int ahead) {
    memcpy(p->out, &answer, sizeof answer);
    double start = now();
    for (int sent = 0, received = 0; received < count;) {
        if (sent < count && sent - received < ahead) {
            if (p->zmq.send(p->socket, p->out, request, 0) < 0) return -1;
            sent++;
        } else {
            if (p->zmq.recv(p->socket, p->in, MOST, 0) < 0) return -1;
            received++;
        }
    }
    return now() - start;
}

void rt_close(peer *p) {
    p->zmq.close(p->socket);
    p->zmq.ctx_term(p->context);
    free(p->out);
    free(p->in);
    free(p);
}
