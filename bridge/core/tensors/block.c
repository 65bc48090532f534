#define _GNU_SOURCE
#include "tensors/block.h"
#include "tensors/pages.h"
#include "tensors/shim.h"

#include <stdlib.h>

#define ALIGNMENT 64

void (*br_drops_wakeup)(void);
static br_drop *drops;  /* atomic: a stack of references to drop */

br_heap *br_heap_new(void)
{
   br_heap *heap = calloc(1, sizeof *heap);
   if (heap) {
      heap->limit = BR_MIN_LIMIT;
      heap->refcount = 1;
   }
   return heap;
}

void br_heap_release(br_heap *heap)
{
   if (heap && was_last(&heap->refcount)) free(heap);
}

int64_t br_heap_held(const br_heap *heap) { return __atomic_load_n(&heap->held, __ATOMIC_RELAXED); }

void br_drop_later(br_drop *drop)
{
   br_drop *head = __atomic_load_n(&drops, __ATOMIC_RELAXED);
   do drop->next = head;
   while (!__atomic_compare_exchange_n(&drops, &head, drop, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
   if (!head && br_drops_wakeup) br_drops_wakeup();
}

br_drop *br_drops_take(void)
{
   if (!__atomic_load_n(&drops, __ATOMIC_RELAXED)) return NULL;
   return __atomic_exchange_n(&drops, NULL, __ATOMIC_ACQUIRE);
}

/* ---- blocks */

br_block *br_block_new(br_heap *heap, void *data, int64_t nbytes, int origin)
{
   br_block *block = calloc(1, sizeof *block);
   if (!block) return NULL;
   block->data = data;
   block->nbytes = nbytes;
   block->heap = heap;
   block->refcount = 1;
   block->origin = origin;
   if (heap) {
      count_up(&heap->refcount);
      __atomic_add_fetch(&heap->held, nbytes, __ATOMIC_RELAXED);
   }
   return block;
}

br_block *br_block_lent(br_heap *heap, void *data, int64_t nbytes, void *object)
{
   br_block *block = br_block_new(heap, data, nbytes, BR_PYTHON);
   if (block) block->drop.object = object;
   return block;
}

br_block *br_block_given(void *data, int64_t nbytes, void (*give_back)(void *data))
{
   br_block *block = br_block_new(NULL, data, nbytes, BR_GIVEN);
   if (block) block->give_back = give_back;
   return block;
}

br_block *br_block_device(br_heap *heap, void *data, int64_t nbytes, void *handle, void *object)
{
   br_block *block = br_block_new(heap, data, nbytes, BR_VECTOR);
   if (block) {
      block->device = handle;
      block->drop.object = object;
   }
   return block;
}

static void memory_free(int origin, void *data, int64_t nbytes, br_span *span)
{
   if (origin == BR_ALLOCATED) free(data);
   else if (origin == BR_PAGES) br_pages_give(data, nbytes);
   else if (origin == BR_SPAN) br_span_release(span);
}

br_block *br_block_own(br_heap *heap, int64_t nbytes, br_span *span)
{
   void *data = NULL;
   int origin = span ? BR_SPAN : nbytes >= BR_LARGE ? BR_PAGES : BR_ALLOCATED;
   if (span) data = br_span_take(span, nbytes);
   else if (origin == BR_PAGES) data = br_pages_take(nbytes);
   else if (posix_memalign(&data, ALIGNMENT, nbytes > 0 ? (size_t)nbytes : 1)) data = NULL;
   if (!data) return NULL;
   br_block *block = br_block_new(heap, data, nbytes, origin);
   if (block) block->span = span;
   else memory_free(origin, data, nbytes, span);
   return block;
}

void br_block_retain(br_block *block) { count_up(&block->refcount); }

void br_block_release(br_block *block)
{
   if (!block || !was_last(&block->refcount)) return;
   if (block->heap) {
      __atomic_sub_fetch(&block->heap->held, block->nbytes, __ATOMIC_RELAXED);
      br_heap_release(block->heap);
   }
   if (block->device) br_torch.delete_tensor_object(block->device);
   if (block->drop.object) br_drop_later(&block->drop);  /* the drop frees the node, which begins the block */
   else {
      if (block->give_back) block->give_back(block->data);
      memory_free(block->origin, block->data, block->nbytes, block->span);
      free(block);
   }
}
