/* TCP connections as file descriptors that never block. Every wait ends after a number of seconds, so that Lua can
 * check for Ctrl-C and wait again, and when the process is ending.
 *
 * Results below 0 are errors; br_net_message describes them. A connection is used by one thread at a time. */
#ifndef BRIDGE_NET_H
#define BRIDGE_NET_H

#include "threads/sync.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
/* Beside BR_DONE, BR_TIMEOUT and BR_CLOSED: the other side has closed the connection. */
enum { BR_NET_EOF = 16 };

/* A descriptor that listens at a host and port (0: any free port), or an error. */
int br_net_listen(const char *host, int port);
/* Start to connect to the `which`-th (from 0 on) address of a host: a descriptor, or an error. BR_NET_NO_MORE: the host
   has fewer addresses. */
enum { BR_NET_NO_MORE = -4095 };
int br_net_connect(const char *host, int port, int which);
/* Wait until it is connected: BR_DONE, BR_TIMEOUT, BR_CLOSED or an error. */
int br_net_connected(int descriptor, double seconds);
/* The next connection that waits to be accepted, or an error; BR_NET_NONE: there is none. */
enum { BR_NET_NONE = -11 };
int br_net_accept(int listener);
/* The numeric address of a descriptor's own side, or of the other side (`peer`), as text in `host`. Returns the port,
   or an error. */
int br_net_address(int descriptor, int peer, char *host, size_t size);

/* Wait until one of n descriptors can be read; negative ones are skipped. If several can, the first from index `from`
   on is chosen. BR_DONE with its index in `*which`; BR_TIMEOUT, BR_CLOSED or an error. */
int br_net_readable(const int *descriptors, int n, int from, int *which, double seconds);
/* Send `nhead` bytes of `head`, then `n` bytes of `data`. `*done` counts the bytes sent so far, over several calls.
   BR_DONE: all were sent. BR_TIMEOUT: call again (also returned now and then while much is sent). BR_CLOSED or an
   error. */
int br_net_send(int descriptor, const void *head, int64_t nhead, const void *data, int64_t n, int64_t *done,
                double seconds);
/* Receive n bytes; `*done` and the result are as for br_net_send. Also BR_NET_EOF. */
int br_net_receive(int descriptor, void *to, int64_t n, int64_t *done, double seconds);
void br_net_close(int descriptor);
const char *br_net_message(int code);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

#endif
