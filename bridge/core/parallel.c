#include "parallel.h"

#include <pthread.h>
#include <string.h>

typedef void (*part)(int64_t begin, int64_t end, void *context);
typedef int32_t (*torch_parallel_for)(int64_t begin, int64_t end, int64_t grain, part f, void *context);

static torch_parallel_for threads; /* atomic; NULL: there are none */
static pthread_once_t watching = PTHREAD_ONCE_INIT;
static int forked;

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

/* One call's work. The threads are woken and waited for by futexes that ThreadSanitizer does not see: what is written
   before and read after is ordered by these two, so that it can tell parts that meet from parts that do not. */
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
   torch_parallel_for shared = n > grain ? __atomic_load_n(&threads, __ATOMIC_ACQUIRE) : NULL;
   if (shared) {
      work w = {f, context, 0, 0};
      __atomic_store_n(&w.begun, 1, __ATOMIC_RELEASE);
      int32_t rc = shared(0, n, grain, run_part, &w);
      (void)__atomic_load_n(&w.done, __ATOMIC_ACQUIRE);
      if (rc == 0) return;
   }
   f(0, n, context);
}
