/* TCP connections as file descriptors that never block: every wait takes a number of seconds, so that Lua can look for
 * Ctrl-C in between, and ends when the process does.
 *
 * Codes below 0 are errors that br_net_message has words for. A connection is used by one thread at a time. */
#ifndef BRIDGE_NET_H
#define BRIDGE_NET_H

#include "threads/sync.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
/* Beside BR_DONE, BR_TIMEOUT and BR_CLOSED: the other side has closed the connection. */
enum { BR_NET_EOF = 16 };

/* A descriptor that listens at a host and port (0: any that is free), or an error. */
int br_net_listen(const char *host, int port);
/* A descriptor on its way to the `which`-th (from 0 on) address of a host, or an error; BR_NET_NO_MORE: it has fewer. */
enum { BR_NET_NO_MORE = -4095 };
int br_net_connect(const char *host, int port, int which);
/* Is it there? BR_DONE, BR_TIMEOUT, BR_CLOSED or an error. */
int br_net_connected(int descriptor, double seconds);
/* The next connection that waits to be accepted, or an error; BR_NET_NONE: there is none. */
enum { BR_NET_NONE = -11 };
int br_net_accept(int listener);
/* Where a descriptor is bound to (`peer`: where it leads), numeric: its port, or an error. */
int br_net_address(int descriptor, int peer, char *host, size_t size);

/* Wait until something can be read from one of n descriptors (negative ones are passed over), looked at from `from`
   on. BR_DONE and which; BR_TIMEOUT, BR_CLOSED or an error. */
int br_net_readable(const int *descriptors, int n, int from, int *which, double seconds);
/* Send what is left of `nhead` and then `n` bytes, of which `done` were sent before; counts on in `done`. BR_DONE when
   that was all, else BR_TIMEOUT (also after many of a large number of bytes), BR_CLOSED, or an error. */
int br_net_send(int descriptor, const void *head, int64_t nhead, const void *data, int64_t n, int64_t *done,
                double seconds);
/* Receive bytes `done` to `n`, counting on in `done`. As br_net_send; BR_NET_EOF. */
int br_net_receive(int descriptor, void *to, int64_t n, int64_t *done, double seconds);
void br_net_close(int descriptor);
const char *br_net_message(int code);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

#endif
