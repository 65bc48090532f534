/* What threads with a Lua state each wait on: mutexes, conditions and queues of messages.
 *
 * No wait here is for ever: each takes a number of seconds, so that Lua can look for Ctrl-C in between. */
#ifndef BRIDGE_SYNC_H
#define BRIDGE_SYNC_H

#include "tensors/tensor.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
/* What a wait comes to. BR_CLOSED: the queue was closed, or the process is ending. */
enum { BR_DONE, BR_TIMEOUT, BR_CLOSED };

/* Mutexes and conditions are known by a number, 0 being none: `find` gives a new reference, or NULL when there is no
   such thing any more. They are freed with their last reference. */
typedef struct br_mutex br_mutex;
br_mutex *br_mutex_new(void);
br_mutex *br_mutex_find(double id);
double br_mutex_id(br_mutex *mutex);
void br_mutex_release(br_mutex *mutex);
int br_mutex_lock(br_mutex *mutex, double seconds);
/* -1: it was not locked. */
int br_mutex_unlock(br_mutex *mutex);

/* Wait until n threads have come here. `ticket` is -1 at the first call of a wait, and kept for the next ones. */
int br_mutex_barrier(br_mutex *mutex, int n, int64_t *ticket, double seconds);

typedef struct br_condition br_condition;
br_condition *br_condition_new(void);
br_condition *br_condition_find(double id);
double br_condition_id(br_condition *condition);
void br_condition_release(br_condition *condition);
/* Wake one of those that wait, or all. */
void br_condition_signal(br_condition *condition, int all);

/* A wait in the line of a condition: begun before the program's mutex is given up, so that no signal is lost. */
typedef struct br_waiter br_waiter;
br_waiter *br_waiter_new(br_condition *condition);
int br_waiter_wait(br_waiter *waiter, double seconds);
/* Leave the line; a signal that nobody has heard is passed on. */
void br_waiter_free(br_waiter *waiter);

/* A line of messages: a storage and a number each. */
typedef struct br_queue br_queue;
br_queue *br_queue_new(int64_t room);
br_queue *br_queue_find(double id);
double br_queue_id(br_queue *queue);
void br_queue_release(br_queue *queue);
int64_t br_queue_count(br_queue *queue);
int64_t br_queue_room(br_queue *queue);
/* Waits for room; the queue takes a reference of its own when it answers BR_DONE. */
int br_queue_push(br_queue *queue, br_storage *storage, int64_t number, double seconds);
/* Waits for a message; its reference goes to the caller. A closed queue is emptied first. */
int br_queue_pop(br_queue *queue, br_storage **storage, int64_t *number, double seconds);
/* Waits until at least `count` messages lie in it. */
int br_queue_fill(br_queue *queue, int64_t count, double seconds);
/* Nothing goes in any more, and nobody waits. */
void br_queue_close(br_queue *queue);
int br_queue_closed(br_queue *queue);

/* Every wait of this process ends now, and so does every later one, with BR_CLOSED. */
void br_end_waits(void);
int br_ending(void);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

#endif
