#define _GNU_SOURCE
#include "tensors/pages.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PIECES 64     /* pieces kept at most */
#define ALIGNMENT 64  /* of a block in a span */

typedef struct piece {
   void *data;
   int64_t length;
} piece;

/* Memory that was given back, the oldest first. A thread only tries to lock `guard` and asks the system for memory if
   it is locked: in a child that was forked while another thread held it, waiting would never end. */
static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static piece kept[PIECES];
static int count;
static int64_t total;

/* Bytes to map for a block: whole pages, and whole large pages where that adds less than half of one. */
static int64_t mapped(int64_t nbytes)
{
   int64_t page = sysconf(_SC_PAGESIZE), last = nbytes & (BR_LARGE - 1);
   if (last >= BR_LARGE / 2) page = BR_LARGE;
   return nbytes > INT64_MAX - BR_LARGE ? 0 : (nbytes + page - 1) & -page;
}

static void *map(int64_t length)
{
   void *data = mmap(NULL, (size_t)length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
   return data == MAP_FAILED ? NULL : data;
}

static void *map_aligned(int64_t length)
{
   char *data = map(length);
   if (!data) return NULL;
   int64_t off = (int64_t)((uintptr_t)data & (BR_LARGE - 1));
   if (off) {
      munmap(data, (size_t)length);
      data = map(length + BR_LARGE);
      if (!data) return NULL;
      off = (int64_t)(-(uintptr_t)data & (BR_LARGE - 1));
      if (off) munmap(data, (size_t)off);
      data += off;
      munmap(data + length, (size_t)(BR_LARGE - off));
   }
   madvise(data, (size_t)length, MADV_HUGEPAGE);
   return data;
}

static piece remove_kept(int i)
{
   piece found = kept[i];
   memmove(kept + i, kept + i + 1, (size_t)(--count - i) * sizeof *kept);
   total -= found.length;
   return found;
}

void *br_pages_take(int64_t nbytes)
{
   int64_t length = mapped(nbytes);
   void *data = NULL;
   if (length <= 0) return NULL;
   if (length <= BR_PAGES_KEPT && pthread_mutex_trylock(&guard) == 0) {
      for (int i = count - 1; i >= 0 && !data; i--)
         if (kept[i].length == length) data = remove_kept(i).data;
      pthread_mutex_unlock(&guard);
   }
   if (!data) data = map_aligned(length);
   if (!data) {
      br_pages_drop();
      data = map_aligned(length);
   }
   return data;
}

void br_pages_give(void *data, int64_t nbytes)
{
   piece given = {data, mapped(nbytes)}, gone[PIECES + 1];
   int going = 0;
   if (given.length <= BR_PAGES_KEPT && madvise(data, (size_t)given.length, MADV_FREE) == 0 &&
       pthread_mutex_trylock(&guard) == 0) {
      while (count == PIECES || total + given.length > BR_PAGES_KEPT) gone[going++] = remove_kept(0);
      kept[count++] = given;
      total += given.length;
      pthread_mutex_unlock(&guard);
   }
   else gone[going++] = given;
   while (going--) munmap(gone[going].data, (size_t)gone[going].length);
}

void br_pages_drop(void)
{
   piece gone[PIECES];
   int going = 0;
   if (pthread_mutex_trylock(&guard)) return;
   while (count) gone[going++] = remove_kept(count - 1);
   pthread_mutex_unlock(&guard);
   while (going--) munmap(gone[going].data, (size_t)gone[going].length);
}

struct br_span {
   char *data;
   int64_t size, used;
   int refcount;  /* atomic: one for the code that fills the span, one for every block in it */
   int file;      /* 1: a map of a file; 0: memory of br_pages_take */
};

static br_span *span_over(void *data, int64_t nbytes, int file)
{
   br_span *span = data ? malloc(sizeof *span) : NULL;
   if (span) *span = (br_span){data, nbytes, 0, 1, file};
   else if (data && file) munmap(data, (size_t)nbytes);
   else if (data) br_pages_give(data, nbytes);
   return span;
}

br_span *br_span_new(int64_t nbytes) { return span_over(br_pages_take(nbytes), nbytes, 0); }

br_span *br_span_map(int descriptor, int64_t nbytes, int shared)
{
   void *data = mmap(NULL, (size_t)nbytes, PROT_READ | PROT_WRITE, shared ? MAP_SHARED : MAP_PRIVATE, descriptor, 0);
   return span_over(data == MAP_FAILED ? NULL : data, nbytes, 1);
}

void br_span_release(br_span *span)
{
   if (!span || __atomic_sub_fetch(&span->refcount, 1, __ATOMIC_ACQ_REL)) return;
   if (span->file) munmap(span->data, (size_t)span->size);
   else br_pages_give(span->data, span->size);
   free(span);
}

void *br_span_at(br_span *span, int64_t offset)
{
   __atomic_add_fetch(&span->refcount, 1, __ATOMIC_RELAXED);
   return span->data + offset;
}

void *br_span_take(br_span *span, int64_t nbytes)
{
   if (nbytes > span->size - span->used) return NULL;
   void *data = br_span_at(span, span->used);
   span->used += (nbytes + ALIGNMENT - 1) & -(int64_t)ALIGNMENT;
   return data;
}
