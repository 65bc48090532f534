#define _GNU_SOURCE
#include "threads/net.h"

#include <errno.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define BACKLOG 1024
#define UNRESOLVED 4096 /* errors of getaddrinfo are numbers below minus this */
/* A connection fails when the other host has not answered for IDLE + PROBES * BETWEEN seconds, or has not confirmed
   data for as long. */
#define IDLE 30
#define BETWEEN 10
#define PROBES 3
#define PART (64LL << 20) /* bytes that one call moves at most, so that Ctrl-C is noticed in a long transfer */

_Static_assert(BR_NET_NONE == -EAGAIN && EAGAIN == EWOULDBLOCK, "the code for no connection is Linux's EAGAIN");

static int resolve(const char *host, int port, int flags, struct addrinfo **found)
{
   struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_protocol = IPPROTO_TCP, .ai_flags = flags | AI_NUMERICSERV};
   char service[16];
   if (port < 0 || port > 65535) return -EINVAL;
   snprintf(service, sizeof service, "%d", port);
   int rc = getaddrinfo(host, service, &hints, found);
   if (rc == EAI_SYSTEM) return -errno;
   return rc ? -UNRESOLVED - abs(rc) : 0;
}

const char *br_net_message(int code)
{
   return code < -UNRESOLVED ? gai_strerror(code + UNRESOLVED) : strerror(-code);
}

/* Send small messages at once, and notice when the other host is gone. */
static void adjust(int descriptor)
{
   int yes = 1, idle = IDLE, between = BETWEEN, probes = PROBES, patience = (IDLE + PROBES * BETWEEN) * 1000;
   setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
   setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
   setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
   setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPINTVL, &between, sizeof between);
   setsockopt(descriptor, IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
   setsockopt(descriptor, IPPROTO_TCP, TCP_USER_TIMEOUT, &patience, sizeof patience);
}

static int open_socket(int family)
{
   int descriptor = socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
   return descriptor < 0 ? -errno : descriptor;
}

static int failed(int descriptor)
{
   int error = errno;
   close(descriptor);
   return -error;
}

int br_net_listen(const char *host, int port)
{
   struct addrinfo *found, *each;
   int rc = resolve(host, port, AI_PASSIVE, &found), descriptor = -EADDRNOTAVAIL;
   if (rc) return rc;
   for (each = found; each; each = each->ai_next) {
      int yes = 1;
      descriptor = open_socket(each->ai_family);
      if (descriptor < 0) continue;
      setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
      if (bind(descriptor, each->ai_addr, each->ai_addrlen) || listen(descriptor, BACKLOG))
         descriptor = failed(descriptor);
      else break;
   }
   freeaddrinfo(found);
   return descriptor;
}

int br_net_connect(const char *host, int port, int which)
{
   struct addrinfo *found, *each;
   int rc = resolve(host, port, 0, &found), descriptor = BR_NET_NO_MORE;
   if (rc) return rc;
   for (each = found; each && which > 0; which--) each = each->ai_next;
   if (each) {
      descriptor = open_socket(each->ai_family);
      if (descriptor >= 0) {
         adjust(descriptor);
         if (connect(descriptor, each->ai_addr, each->ai_addrlen) && errno != EINPROGRESS)
            descriptor = failed(descriptor);
      }
   }
   freeaddrinfo(found);
   return descriptor;
}

/* BR_DONE when one of the descriptors is ready, or failed. */
static int ready(struct pollfd *polled, nfds_t n, double seconds)
{
   if (br_ending()) return BR_CLOSED;
   int rc = poll(polled, n, seconds > 0 ? (int)(seconds < 60 ? seconds * 1000 + 0.5 : 60000) : 0);
   if (rc > 0) return BR_DONE;
   return rc == 0 || errno == EINTR ? BR_TIMEOUT : -errno;
}

static int ready_for(int descriptor, short events, double seconds)
{
   struct pollfd polled = {descriptor, events, 0};
   return ready(&polled, 1, seconds);
}

int br_net_connected(int descriptor, double seconds)
{
   int rc = ready_for(descriptor, POLLOUT, seconds), error = 0;
   if (rc) return rc;
   socklen_t size = sizeof error;
   getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &error, &size);
   if (error) return -error;
   /* If no program listens at a port of this host, a connection to it may get that very port as its own, and so reach
      itself. */
   struct sockaddr_storage here, there;
   socklen_t nhere = sizeof here, nthere = sizeof there;
   memset(&here, 0, sizeof here);
   memset(&there, 0, sizeof there);
   if (getsockname(descriptor, (struct sockaddr *)&here, &nhere) ||
       getpeername(descriptor, (struct sockaddr *)&there, &nthere))
      return -errno;
   return nhere == nthere && !memcmp(&here, &there, nhere) ? -ECONNREFUSED : BR_DONE;
}

int br_net_accept(int listener)
{
   for (;;) {
      int descriptor = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
      if (descriptor >= 0) {
         adjust(descriptor);
         return descriptor;
      }
      if (errno != EINTR && errno != ECONNABORTED && errno != EPROTO) return -errno;
   }
}

int br_net_address(int descriptor, int peer, char *host, size_t size)
{
   struct sockaddr_storage address;
   socklen_t n = sizeof address;
   char service[16];
   if ((peer ? getpeername : getsockname)(descriptor, (struct sockaddr *)&address, &n)) return -errno;
   int rc = getnameinfo((struct sockaddr *)&address, n, host, (socklen_t)size, service, sizeof service,
                        NI_NUMERICHOST | NI_NUMERICSERV);
   return rc ? -UNRESOLVED - abs(rc) : atoi(service);
}

int br_net_readable(const int *descriptors, int n, int from, int *which, double seconds)
{
   struct pollfd *polled = calloc((size_t)n + 1, sizeof *polled);
   if (!polled) return -ENOMEM;
   for (int i = 0; i < n; i++) polled[i] = (struct pollfd){descriptors[i], POLLIN, 0};
   int rc = ready(polled, (nfds_t)n, seconds);
   if (rc == BR_DONE) {
      int i = n > 0 ? from % n : 0;
      while (!polled[i].revents) i = (i + 1) % n;
      *which = i;
   }
   free(polled);
   return rc;
}

/* After a call that moved no bytes: wait until the next one can. BR_DONE: call again. */
static int again(int descriptor, short events, double seconds)
{
   if (errno == EINTR) return BR_DONE;
   if (errno != EAGAIN) return -errno;
   return ready_for(descriptor, events, seconds);
}

int br_net_send(int descriptor, const void *head, int64_t nhead, const void *data, int64_t n, int64_t *done,
                double seconds)
{
   const int64_t pause = *done + PART;
   while (*done < nhead + n) {
      if (*done >= pause) return BR_TIMEOUT;
      int64_t of_head = *done < nhead ? nhead - *done : 0, of_data = *done + of_head - nhead;
      struct iovec parts[2] = {{(char *)head + (nhead - of_head), (size_t)of_head},
                               {(char *)data + of_data, (size_t)(n - of_data < PART ? n - of_data : PART)}};
      struct msghdr message = {.msg_iov = of_head ? parts : parts + 1, .msg_iovlen = of_head && n > of_data ? 2 : 1};
      ssize_t sent = sendmsg(descriptor, &message, MSG_NOSIGNAL);
      if (sent >= 0) *done += sent;
      else {
         int rc = again(descriptor, POLLOUT, seconds);
         if (rc) return rc;
      }
   }
   return BR_DONE;
}

int br_net_receive(int descriptor, void *to, int64_t n, int64_t *done, double seconds)
{
   const int64_t pause = *done + PART;
   while (*done < n) {
      if (*done >= pause) return BR_TIMEOUT;
      int64_t left = n - *done;
      ssize_t got = recv(descriptor, (char *)to + *done, (size_t)(left < PART ? left : PART), 0);
      if (got == 0) return BR_NET_EOF;
      if (got > 0) *done += got;
      else {
         int rc = again(descriptor, POLLIN, seconds);
         if (rc) return rc;
      }
   }
   return BR_DONE;
}

void br_net_close(int descriptor) { close(descriptor); }
