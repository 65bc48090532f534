/* Memory: blocks, the heaps that count their bytes, and Python references that wait to be dropped. */
#ifndef BRIDGE_BLOCK_H
#define BRIDGE_BLOCK_H

#include "tensors/layout.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
/* A heap with one reference. NULL: out of memory. */
br_heap *br_heap_new(void);
void br_heap_release(br_heap *heap);
/* The bytes alive now; other threads may change them at any time. */
int64_t br_heap_held(const br_heap *heap);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

#define BR_MIN_LIMIT (64LL << 20)  /* a heap this small is never collected for its size alone */

/* Counts of references, which change in any thread. */
static inline void count_up(int *refcount) { __atomic_add_fetch(refcount, 1, __ATOMIC_RELAXED); }
static inline int was_last(int *refcount) { return __atomic_sub_fetch(refcount, 1, __ATOMIC_ACQ_REL) == 0; }

/* A block over memory, which is freed as its origin says; for BR_VECTOR and BR_GIVEN use br_block_device and
   br_block_given. NULL: out of memory, nothing taken. */
br_block *br_block_new(br_heap *heap, void *data, int64_t nbytes, int origin);
/* A block of memory of our own, in a span where one is given. NULL: out of memory, or the span has no room. */
br_block *br_block_own(br_heap *heap, int64_t nbytes, struct br_span *span);
/* A block over memory that a Python object (an owned reference) lends. NULL: out of memory, reference not taken. */
br_block *br_block_lent(br_heap *heap, void *data, int64_t nbytes, void *object);
void br_block_retain(br_block *block);
void br_block_release(br_block *block);
/* A block over memory that `give_back` frees. NULL: out of memory, nothing taken. */
br_block *br_block_given(void *data, int64_t nbytes, void (*give_back)(void *data));
/* A block over a torch tensor's memory on a device. It takes over the tensor's `handle` and the reference to `object`,
   which may be NULL. `data`: the device's address, never read here. NULL: out of memory, nothing taken. */
br_block *br_block_device(br_heap *heap, void *data, int64_t nbytes, void *handle, void *object);

/* Queue a reference for br_drops_take; needs no GIL. The node stays the queue's until it is taken. */
void br_drop_later(br_drop *drop);
/* Everything queued so far, as a list in no order; `drop` nodes with `data` behind them belong to blocks. */
br_drop *br_drops_take(void);
/* Called (from any thread, without the GIL) when the queue was empty and no longer is. */
extern void (*br_drops_wakeup)(void);

#endif
