#define _GNU_SOURCE
#include "threads/workqueue.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct br_workqueue {
   br_workqueue *next;
   char *name;             /* NULL: none */
   const void *owner;      /* only compared, never dereferenced */
   int refcount;
   br_queue *questions, *answers;
};

/* Guards the list and all reference counts. */
static pthread_mutex_t latch = PTHREAD_MUTEX_INITIALIZER;
static br_workqueue *named;

static void before_fork(void) { pthread_mutex_lock(&latch); }
static void after_fork(void) { pthread_mutex_unlock(&latch); }
__attribute__((constructor)) static void heed_forks(void) { pthread_atfork(before_fork, after_fork, after_fork); }

static void destroy(br_workqueue *workqueue)
{
   if (workqueue->questions) br_queue_release(workqueue->questions);
   if (workqueue->answers) br_queue_release(workqueue->answers);
   free(workqueue->name);
   free(workqueue);
}

static br_workqueue *create(const char *name, const void *owner)
{
   br_workqueue *made = calloc(1, sizeof *made);
   if (!made) return NULL;
   made->owner = owner;
   made->refcount = 1;
   made->questions = br_queue_new(INT64_MAX);
   made->answers = br_queue_new(INT64_MAX);
   if (name) made->name = strdup(name);
   if (made->questions && made->answers && (made->name || !name)) return made;
   destroy(made);
   return NULL;
}

br_workqueue *br_workqueue_open(const char *name, const void *owner)
{
   pthread_mutex_lock(&latch);
   br_workqueue *found = name ? named : NULL;
   while (found && strcmp(found->name, name)) found = found->next;
   if (found) found->refcount++;
   else if ((found = create(name, owner)) && name) {
      found->next = named;
      named = found;
   }
   pthread_mutex_unlock(&latch);
   return found;
}

void br_workqueue_retain(br_workqueue *workqueue)
{
   pthread_mutex_lock(&latch);
   workqueue->refcount++;
   pthread_mutex_unlock(&latch);
}

void br_workqueue_release(br_workqueue *workqueue)
{
   pthread_mutex_lock(&latch);
   int last = --workqueue->refcount == 0;
   if (last && workqueue->name) {
      br_workqueue **place = &named;
      while (*place != workqueue) place = &(*place)->next;
      *place = workqueue->next;
   }
   pthread_mutex_unlock(&latch);
   if (last) destroy(workqueue);  /* after unlocking: its messages may hold references to other work queues */
}

int br_workqueue_belongs(const br_workqueue *workqueue, const void *owner) { return workqueue->owner == owner; }
double br_workqueue_questions(const br_workqueue *workqueue) { return br_queue_id(workqueue->questions); }
double br_workqueue_answers(const br_workqueue *workqueue) { return br_queue_id(workqueue->answers); }
