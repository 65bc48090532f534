#define _GNU_SOURCE
#include "threads/sync.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

/* One latch for all: it is held for a few stores only, and each object has a condition variable of its own. */
static pthread_mutex_t latch = PTHREAD_MUTEX_INITIALIZER;
static int ending;            /* the process is ending: no thread may wait */

/* A child process must find the latch free. */
static void before_fork(void) { pthread_mutex_lock(&latch); }
static void after_fork(void) { pthread_mutex_unlock(&latch); }
__attribute__((constructor)) static void heed_forks(void) { pthread_atfork(before_fork, after_fork, after_fork); }

/* The first field of mutexes, conditions and queues. */
typedef struct thing {
   struct thing *next, *previous;
   double id;
   int kind;
   int refcount;
   pthread_cond_t changed;
} thing;

enum { MUTEX, CONDITION, QUEUE };

static thing *things;
static double last_id;

static void *thing_new(int kind, size_t size)
{
   thing *made = calloc(1, size);
   if (!made) return NULL;
   pthread_condattr_t attributes;
   pthread_condattr_init(&attributes);
   pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
   pthread_cond_init(&made->changed, &attributes);
   pthread_condattr_destroy(&attributes);
   made->kind = kind;
   made->refcount = 1;
   pthread_mutex_lock(&latch);
   made->id = ++last_id;
   made->next = things;
   if (things) things->previous = made;
   things = made;
   pthread_mutex_unlock(&latch);
   return made;
}

static void *thing_find(int kind, double id)
{
   pthread_mutex_lock(&latch);
   thing *found = things;
   while (found && (found->id != id || found->kind != kind)) found = found->next;
   if (found) found->refcount++;
   pthread_mutex_unlock(&latch);
   return found;
}

/* Give back a reference. 1: it was the last one, so `find` does not find the object and the caller must free it. */
static int thing_release(thing *thing)
{
   pthread_mutex_lock(&latch);
   int last = --thing->refcount == 0;
   if (last) {
      if (thing->next) thing->next->previous = thing->previous;
      if (thing->previous) thing->previous->next = thing->next;
      else things = thing->next;
   }
   pthread_mutex_unlock(&latch);
   if (last) pthread_cond_destroy(&thing->changed);
   return last;
}

static struct timespec deadline(double seconds)
{
   struct timespec when;
   clock_gettime(CLOCK_MONOTONIC, &when);
   if (!(seconds > 0)) return when;
   if (seconds > 1e8) seconds = 1e8;
   when.tv_sec += (time_t)seconds;
   when.tv_nsec += (long)((seconds - (double)(time_t)seconds) * 1e9);
   if (when.tv_nsec >= 1000000000) {
      when.tv_sec++;
      when.tv_nsec -= 1000000000;
   }
   return when;
}

/* With the latch held: wait until CONDITION, the deadline, or the end of the process; BR_* in `rc`. */
#define WAIT_FOR(rc, variable, seconds, condition) \
   do { \
      struct timespec until = deadline(seconds); \
      rc = BR_DONE; \
      while (rc == BR_DONE && !(condition)) { \
         if (ending) rc = BR_CLOSED; \
         else if (pthread_cond_timedwait(&(variable), &latch, &until) == ETIMEDOUT && !(condition)) rc = BR_TIMEOUT; \
      } \
   } while (0)

void br_end_waits(void)
{
   pthread_mutex_lock(&latch);
   ending = 1;
   for (thing *each = things; each; each = each->next) pthread_cond_broadcast(&each->changed);
   pthread_mutex_unlock(&latch);
}

int br_ending(void)
{
   pthread_mutex_lock(&latch);
   int answer = ending;
   pthread_mutex_unlock(&latch);
   return answer;
}

/* ---- mutexes */

struct br_mutex {
   thing thing;
   int locked;
   int arrived;            /* threads that wait at the barrier */
   int64_t barriers;       /* how often the barrier has opened */
};

br_mutex *br_mutex_new(void) { return thing_new(MUTEX, sizeof(br_mutex)); }
br_mutex *br_mutex_find(double id) { return thing_find(MUTEX, id); }
double br_mutex_id(br_mutex *mutex) { return mutex->thing.id; }

void br_mutex_release(br_mutex *mutex)
{
   if (thing_release(&mutex->thing)) free(mutex);
}

int br_mutex_lock(br_mutex *mutex, double seconds)
{
   int rc;
   pthread_mutex_lock(&latch);
   WAIT_FOR(rc, mutex->thing.changed, seconds, !mutex->locked);
   if (rc == BR_DONE) mutex->locked = 1;
   pthread_mutex_unlock(&latch);
   return rc;
}

int br_mutex_unlock(br_mutex *mutex)
{
   pthread_mutex_lock(&latch);
   int rc = mutex->locked ? 0 : -1;
   mutex->locked = 0;
   if (mutex->arrived) pthread_cond_broadcast(&mutex->thing.changed);  /* some wait at the barrier, not for the lock */
   else pthread_cond_signal(&mutex->thing.changed);
   pthread_mutex_unlock(&latch);
   return rc;
}

int br_mutex_barrier(br_mutex *mutex, int n, int64_t *ticket, double seconds)
{
   int rc;
   pthread_mutex_lock(&latch);
   if (*ticket < 0) {
      *ticket = mutex->barriers;
      if (++mutex->arrived >= n) {
         mutex->arrived = 0;
         mutex->barriers++;
         pthread_cond_broadcast(&mutex->thing.changed);
      }
   }
   WAIT_FOR(rc, mutex->thing.changed, seconds, mutex->barriers != *ticket);
   pthread_mutex_unlock(&latch);
   return rc;
}

/* ---- conditions */

struct br_waiter {
   br_condition *condition;
   br_waiter *next;
   int signalled;          /* 1: a signal has come; 2: and br_waiter_wait has reported it */
};

struct br_condition {
   thing thing;
   br_waiter *first;       /* the waiters without a signal, oldest first */
   br_waiter **last;
};

br_condition *br_condition_new(void)
{
   br_condition *condition = thing_new(CONDITION, sizeof *condition);
   if (condition) condition->last = &condition->first;
   return condition;
}

br_condition *br_condition_find(double id) { return thing_find(CONDITION, id); }
double br_condition_id(br_condition *condition) { return condition->thing.id; }

void br_condition_release(br_condition *condition)
{
   if (thing_release(&condition->thing)) free(condition);
}

/* With the latch held. */
static void wake(br_condition *condition)
{
   br_waiter *waiter = condition->first;
   if (!waiter) return;
   condition->first = waiter->next;
   if (!condition->first) condition->last = &condition->first;
   waiter->signalled = 1;
   pthread_cond_broadcast(&condition->thing.changed);
}

void br_condition_signal(br_condition *condition, int all)
{
   pthread_mutex_lock(&latch);
   do wake(condition);
   while (all && condition->first);
   pthread_mutex_unlock(&latch);
}

br_waiter *br_waiter_new(br_condition *condition)
{
   br_waiter *waiter = calloc(1, sizeof *waiter);
   if (!waiter) return NULL;
   waiter->condition = condition;
   pthread_mutex_lock(&latch);
   condition->thing.refcount++;
   *condition->last = waiter;
   condition->last = &waiter->next;
   pthread_mutex_unlock(&latch);
   return waiter;
}

int br_waiter_wait(br_waiter *waiter, double seconds)
{
   int rc;
   pthread_mutex_lock(&latch);
   WAIT_FOR(rc, waiter->condition->thing.changed, seconds, waiter->signalled);
   if (rc == BR_DONE) waiter->signalled = 2;
   pthread_mutex_unlock(&latch);
   return rc;
}

void br_waiter_free(br_waiter *waiter)
{
   br_condition *condition = waiter->condition;
   pthread_mutex_lock(&latch);
   if (waiter->signalled == 1) wake(condition);
   else if (!waiter->signalled) {
      br_waiter **place = &condition->first;
      while (*place != waiter) place = &(*place)->next;
      *place = waiter->next;
      if (!*place) condition->last = place;
   }
   pthread_mutex_unlock(&latch);
   br_condition_release(condition);
   free(waiter);
}

/* ---- queues */

typedef struct message {
   br_storage *storage;
   int64_t number;
} message;

struct br_queue {
   thing thing;
   int64_t room, count, first;
   int64_t allocated;
   message *messages;      /* a ring buffer */
   int closed;
};

br_queue *br_queue_new(int64_t room)
{
   br_queue *queue = thing_new(QUEUE, sizeof *queue);
   if (queue) queue->room = room;
   return queue;
}

br_queue *br_queue_find(double id) { return thing_find(QUEUE, id); }
double br_queue_id(br_queue *queue) { return queue->thing.id; }

void br_queue_release(br_queue *queue)
{
   if (!thing_release(&queue->thing)) return;
   for (int64_t i = 0; i < queue->count; i++)
      br_storage_release(queue->messages[(queue->first + i) % queue->allocated].storage);
   free(queue->messages);
   free(queue);
}

int64_t br_queue_count(br_queue *queue)
{
   pthread_mutex_lock(&latch);
   int64_t count = queue->count;
   pthread_mutex_unlock(&latch);
   return count;
}

int64_t br_queue_room(br_queue *queue) { return queue->room; }

/* With the latch held: 0, or -1: out of memory. */
static int enlarge(br_queue *queue)
{
   int64_t allocated = queue->allocated ? 2 * queue->allocated : 8;
   message *messages = malloc((size_t)allocated * sizeof *messages);
   if (!messages) return -1;
   for (int64_t i = 0; i < queue->count; i++)
      messages[i] = queue->messages[(queue->first + i) % queue->allocated];
   free(queue->messages);
   queue->messages = messages;
   queue->allocated = allocated;
   queue->first = 0;
   return 0;
}

int br_queue_push(br_queue *queue, br_storage *storage, int64_t number, double seconds)
{
   int rc;
   pthread_mutex_lock(&latch);
   WAIT_FOR(rc, queue->thing.changed, seconds, queue->closed || queue->count < queue->room);
   if (rc == BR_DONE && queue->closed) rc = BR_CLOSED;
   if (rc == BR_DONE && queue->count == queue->allocated && enlarge(queue)) rc = -1;
   if (rc == BR_DONE) {
      br_storage_retain(storage);
      queue->messages[(queue->first + queue->count++) % queue->allocated] = (message){storage, number};
      pthread_cond_broadcast(&queue->thing.changed);
   }
   pthread_mutex_unlock(&latch);
   return rc;
}

int br_queue_pop(br_queue *queue, br_storage **storage, int64_t *number, double seconds)
{
   int rc;
   pthread_mutex_lock(&latch);
   WAIT_FOR(rc, queue->thing.changed, seconds, queue->closed || queue->count > 0);
   if (rc == BR_DONE && queue->count == 0) rc = BR_CLOSED;
   if (rc == BR_DONE) {
      message taken = queue->messages[queue->first];
      *storage = taken.storage;
      *number = taken.number;
      queue->first = (queue->first + 1) % queue->allocated;
      queue->count--;
      pthread_cond_broadcast(&queue->thing.changed);
   }
   pthread_mutex_unlock(&latch);
   return rc;
}

int br_queue_fill(br_queue *queue, int64_t count, double seconds)
{
   int rc;
   pthread_mutex_lock(&latch);
   WAIT_FOR(rc, queue->thing.changed, seconds, queue->closed || queue->count >= count);
   pthread_mutex_unlock(&latch);
   return rc;
}

void br_queue_close(br_queue *queue)
{
   pthread_mutex_lock(&latch);
   queue->closed = 1;
   pthread_cond_broadcast(&queue->thing.changed);
   pthread_mutex_unlock(&latch);
}

int br_queue_closed(br_queue *queue)
{
   pthread_mutex_lock(&latch);
   int closed = queue->closed;
   pthread_mutex_unlock(&latch);
   return closed;
}
