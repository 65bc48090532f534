/* A pair of queues with a name: the Lua state that made it sends questions through one, and all other states send
   answers through the other. */
#ifndef BRIDGE_WORKQUEUE_H
#define BRIDGE_WORKQUEUE_H

#include "threads/sync.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
typedef struct br_workqueue br_workqueue;
/* A new reference to the work queue with this name, which is made for `owner` if there is none; without a name, always
   to a new one. NULL: out of memory. */
br_workqueue *br_workqueue_open(const char *name, const void *owner);
void br_workqueue_retain(br_workqueue *workqueue);
/* The last reference frees it, with the messages in it. */
void br_workqueue_release(br_workqueue *workqueue);
int br_workqueue_belongs(const br_workqueue *workqueue, const void *owner);
/* The ids of its queues. */
double br_workqueue_questions(const br_workqueue *workqueue);
double br_workqueue_answers(const br_workqueue *workqueue);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

#endif
