#define _GNU_SOURCE
#include "tensors/th_storage.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>

enum { REFCOUNTED = 1, RESIZABLE = 2, FREEMEM = 4 };  /* flags of a storage */

/* Memory that TH's storages own and others read. The block over it has one reference for all storages together. */
typedef struct entry {
   br_block *block;
   int owners;          /* storages that will give it back */
   struct entry *next;
} entry;

static struct {
   pthread_mutex_t mutex;
   entry **chains;      /* a hash table by the memory's address; `size` is a power of two */
   size_t size, used;
   br_th_allocator *standard; /* TH's own, NULL until it is known */
} kept = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static entry **chain_of(const void *data)
{
   uint64_t mixed = (uint64_t)(uintptr_t)data * 0x9E3779B97F4A7C15ull;
   return &kept.chains[(mixed >> 32) & (kept.size - 1)];
}

static entry *find(const void *data)
{
   entry *found = kept.size ? *chain_of(data) : NULL;
   while (found && found->block->data != data) found = found->next;
   return found;
}

static int grow(void)
{
   size_t old = kept.size;
   entry **chains = kept.chains, **larger = calloc(old ? 2 * old : 64, sizeof *larger);
   if (!larger) return -1;
   kept.chains = larger;
   kept.size = old ? 2 * old : 64;
   for (size_t i = 0; i < old; i++) {
      for (entry *one = chains[i], *next; one; one = next) {
         entry **chain = chain_of(one->block->data);
         next = one->next;
         one->next = *chain;
         *chain = one;
      }
   }
   free(chains);
   return 0;
}

/* Add a block with one owner to the table, which takes over the reference. 0, or -1: out of memory, not taken over. */
static int enter(br_block *block)
{
   entry *made = malloc(sizeof *made);
   if (!made || (kept.used == kept.size && grow())) {
      free(made);
      return -1;
   }
   entry **chain = chain_of(block->data);
   *made = (entry){block, 1, *chain};
   *chain = made;
   kept.used++;
   return 0;
}

/* The memory at `data` has one owner less. If that was the last, its block leaves the table and is returned with the
   table's reference; else NULL. `known`: the table had it. */
static br_block *leave(const void *data, int *known)
{
   br_block *block = NULL;
   pthread_mutex_lock(&kept.mutex);
   entry *found = find(data);
   *known = found != NULL;
   if (found && --found->owners == 0) {
      entry **link = chain_of(data);
      while (*link != found) link = &(*link)->next;
      *link = found->next;
      kept.used--;
      block = found->block;
      free(found);
   }
   pthread_mutex_unlock(&kept.mutex);
   return block;
}

/* ---- the allocator of storages whose memory is shared */

static void *take(void *context, ptrdiff_t size) { return kept.standard->malloc(context, size); }

static void give_back(void *context, void *data)
{
   int known;
   br_block *block = leave(data, &known);
   if (!known) kept.standard->free(context, data);
   br_block_release(block);
}

/* Without a realloc TH takes new memory, copies, and gives the old one back. */
static br_th_allocator keeping = {take, NULL, give_back};

/* Shared memory may outlive the Lua state that loaded TH. TH's library, whose function frees the memory, must stay
   loaded. */
static void keep_library(const br_th_allocator *allocator)
{
   Dl_info info;
   if (dladdr(*(void *const *)&allocator->free, &info)) dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

void br_th_default(br_th_allocator *allocator)
{
   pthread_mutex_lock(&kept.mutex);
   if (!kept.standard) {
      kept.standard = allocator;
      keep_library(allocator);
   }
   pthread_mutex_unlock(&kept.mutex);
}

static void give_to_th(void *data) { kept.standard->free(NULL, data); }

int br_th_own(br_th_storage *storage, br_block *block)
{
   br_block *spare = NULL;
   int failed = 0;
   pthread_mutex_lock(&kept.mutex);
   entry *known = find(block->data);
   if (known) {
      known->owners++;
      spare = block;     /* this memory has a block already: only that one is used */
   } else failed = enter(block);
   pthread_mutex_unlock(&kept.mutex);
   if (failed) return -1;
   br_block_release(spare);
   storage->allocator = &keeping;
   storage->allocatorContext = NULL;
   storage->flag = REFCOUNTED | RESIZABLE | FREEMEM;
   return 0;
}

br_block *br_th_share(br_th_storage *storage, int64_t nbytes, int *shared)
{
   br_block *block = NULL;
   pthread_mutex_lock(&kept.mutex);
   *shared = (storage->allocator == &keeping || (kept.standard && storage->allocator == kept.standard))
             && storage->flag & FREEMEM;
   entry *known = *shared ? find(storage->data) : NULL;
   if (known) block = known->block;
   else if (*shared) {
      block = br_block_given(storage->data, nbytes, give_to_th);
      if (block && enter(block)) {
         free(block);    /* not the memory: that still belongs to TH */
         block = NULL;
      }
      if (block) storage->allocator = &keeping;
   }
   if (block) br_block_retain(block);
   pthread_mutex_unlock(&kept.mutex);
   return block;
}
