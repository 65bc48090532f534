#define _GNU_SOURCE
#include "loops/parallel.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LOADING 200000000 /* nanoseconds: about what loading torch's library takes */

typedef void (*part)(int64_t begin, int64_t end, void *context);
typedef int32_t (*torch_parallel_for)(int64_t begin, int64_t end, int64_t grain, part f, void *context);

static torch_parallel_for threads; /* atomic; NULL: torch is not loaded, or this is a forked child */
static pthread_once_t watching = PTHREAD_ONCE_INIT;
static int forked;
static char *library;   /* atomic; path of torch's library, NULL once loading it was tried */
static int64_t unshared;  /* atomic; nanoseconds spent in loops that threads could have shared */

static void after_fork(void)
{
   forked = 1;
   __atomic_store_n(&threads, NULL, __ATOMIC_RELAXED);
}

static void watch_forks(void) { pthread_atfork(NULL, NULL, after_fork); }

void br_parallel_with(void *parallel_for)
{
   torch_parallel_for found;
   memcpy(&found, &parallel_for, sizeof found);
   pthread_once(&watching, watch_forks);
   if (!forked) __atomic_store_n(&threads, found, __ATOMIC_RELEASE);
}

void br_parallel_library(const char *path)
{
   char *copy = strdup(path);
   if (copy) free(__atomic_exchange_n(&library, copy, __ATOMIC_ACQ_REL));
}

static void load(void)
{
   char *path = __atomic_exchange_n(&library, NULL, __ATOMIC_ACQ_REL);
   void *loaded = path ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;
   void *found = loaded ? dlsym(loaded, "torch_parallel_for") : NULL;
   if (found) br_parallel_with(found);
   free(path);
}

static int64_t now(void)
{
   struct timespec t;
   clock_gettime(CLOCK_MONOTONIC, &t);
   return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void run_unshared(int64_t n, part f, void *context)
{
   int64_t began = now();
   f(0, n, context);
   int64_t taken = now() - began;
   if (__atomic_add_fetch(&unshared, taken, __ATOMIC_RELAXED) > LOADING && !forked) load();
}

/* The work of one call. torch wakes its threads and waits for them with futexes, which ThreadSanitizer does not see.
   `begun` and `done` show it the same order (the call before every part, every part before the return), so that it
   reports only real races between parts. */
typedef struct work {
   part f;
   void *context;
   int begun, done;  /* atomic */
} work;

static void run_part(int64_t begin, int64_t end, void *context)
{
   work *w = context;
   (void)__atomic_load_n(&w->begun, __ATOMIC_ACQUIRE);
   w->f(begin, end, w->context);
   __atomic_fetch_add(&w->done, 1, __ATOMIC_RELEASE);
}

void br_parallel(int64_t n, int64_t grain, part f, void *context)
{
   if (n <= grain) {
      f(0, n, context);
      return;
   }
   torch_parallel_for shared = __atomic_load_n(&threads, __ATOMIC_ACQUIRE);
   if (!shared) {
      run_unshared(n, f, context);
      return;
   }
   work w = {f, context, 0, 0};
   __atomic_store_n(&w.begun, 1, __ATOMIC_RELEASE);
   int32_t rc = shared(0, n, grain, run_part, &w);
   (void)__atomic_load_n(&w.done, __ATOMIC_ACQUIRE);
   if (rc != 0) f(0, n, context);
}
