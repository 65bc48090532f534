/* Two queues under a name: the state that made it asks through one, all others answer through the other. */
#ifndef BRIDGE_WORKQUEUE_H
#define BRIDGE_WORKQUEUE_H

#include "threads/sync.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
typedef struct br_workqueue br_workqueue;
/* The one with this name, or a new one that belongs to `owner`; without a name, always a new one. A new reference.
   NULL: out of memory. */
br_workqueue *br_workqueue_open(const char *name, const void *owner);
void br_workqueue_retain(br_workqueue *workqueue);
/* With its last reference it is forgotten, and what lies in it. */
void br_workqueue_release(br_workqueue *workqueue);
int br_workqueue_belongs(const br_workqueue *workqueue, const void *owner);
/* The ids of its queues. */
double br_workqueue_questions(const br_workqueue *workqueue);
double br_workqueue_answers(const br_workqueue *workqueue);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

#endif
