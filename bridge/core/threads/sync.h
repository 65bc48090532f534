/* Mutexes, conditions and message queues for threads that have a Lua state each.
 *
 * Every wait ends after a number of seconds, so that Lua can check for Ctrl-C and wait again. */
#ifndef BRIDGE_SYNC_H
#define BRIDGE_SYNC_H

#include "tensors/tensor.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
/* The result of a wait. BR_CLOSED: the queue was closed, or the process is ending. */
enum { BR_DONE, BR_TIMEOUT, BR_CLOSED };

/* Mutexes, conditions and queues have an id, a number from 1 on, by which other threads find them: `find` gives a new
   reference, or NULL if there is none with this id. They are freed with their last reference. */
typedef struct br_mutex br_mutex;
br_mutex *br_mutex_new(void);
br_mutex *br_mutex_find(double id);
double br_mutex_id(br_mutex *mutex);
void br_mutex_release(br_mutex *mutex);
int br_mutex_lock(br_mutex *mutex, double seconds);
/* -1: it was not locked. */
int br_mutex_unlock(br_mutex *mutex);

/* Wait until n threads have called this function. `*ticket` is -1 at the first call; after a timeout, the same ticket
   continues the wait. */
int br_mutex_barrier(br_mutex *mutex, int n, int64_t *ticket, double seconds);

typedef struct br_condition br_condition;
br_condition *br_condition_new(void);
br_condition *br_condition_find(double id);
double br_condition_id(br_condition *condition);
void br_condition_release(br_condition *condition);
/* Wake one waiting thread, or all. */
void br_condition_signal(br_condition *condition, int all);

/* A thread's place in a condition's line. A thread takes it before it unlocks the program's mutex, so that it misses no
   signal. */
typedef struct br_waiter br_waiter;
br_waiter *br_waiter_new(br_condition *condition);
int br_waiter_wait(br_waiter *waiter, double seconds);
/* Leave the line. A signal that came when br_waiter_wait had already timed out goes to the next in the line. */
void br_waiter_free(br_waiter *waiter);

/* A queue of messages. A message is a storage and a number. */
typedef struct br_queue br_queue;
br_queue *br_queue_new(int64_t room);
br_queue *br_queue_find(double id);
double br_queue_id(br_queue *queue);
void br_queue_release(br_queue *queue);
int64_t br_queue_count(br_queue *queue);
int64_t br_queue_room(br_queue *queue);
/* Waits for room. With BR_DONE, the queue has taken a reference of its own. -1: out of memory. */
int br_queue_push(br_queue *queue, br_storage *storage, int64_t number, double seconds);
/* Waits for a message; its reference goes to the caller. BR_CLOSED comes after the last message of a closed queue. */
int br_queue_pop(br_queue *queue, br_storage **storage, int64_t *number, double seconds);
/* Waits until the queue has at least `count` messages, or is closed. */
int br_queue_fill(br_queue *queue, int64_t count, double seconds);
/* Close the queue: it takes no more messages, and no thread waits for one. */
void br_queue_close(br_queue *queue);
int br_queue_closed(br_queue *queue);

/* Let every wait of this process, and every later one, end with BR_CLOSED: the process is ending. */
void br_end_waits(void);
int br_ending(void);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

#endif
