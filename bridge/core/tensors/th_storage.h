/* The memory of a real Torch7's storages, kept for those who read it elsewhere.
 *
 * TH gives a storage's memory back when the storage grows, moves or goes, whoever still reads it. So a storage whose
 * memory is shared gets an allocator of ours, which gives it back when the last reader is gone: then it behaves as our
 * own storages do, and an array in Python keeps the memory that it was made over. */
#ifndef BRIDGE_TH_STORAGE_H
#define BRIDGE_TH_STORAGE_H

#include "tensors/block.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
typedef struct br_th_storage {
   void *data;
   ptrdiff_t size;      /* elements */
   int refcount;
   char flag;
   br_th_allocator *allocator;
   void *allocatorContext;
} br_th_storage;

typedef struct br_th_tensor {
   int64_t *size;
   int64_t *stride;
   int nDimension;
   br_th_storage *storage;
   ptrdiff_t storageOffset; /* elements, 0-based */
} br_th_tensor;

/* Say which allocator TH gives ordinary storages; memory of any other is not shared. */
void br_th_default(br_th_allocator *allocator);

/* Let a storage made over foreign memory own `block`, which lies over it, and grow: it takes over the caller's reference.
   0, or -1: out of memory, nothing taken. */
int br_th_own(br_th_storage *storage, br_block *block);
/* BRIDGE_CDEF end */

/* A reference to the block over a storage's memory. NULL with `*shared` 1: out of memory; with 0: this memory cannot be
   kept (it is mapped, or somebody else's), so it has to be copied. */
br_block *br_th_share(br_th_storage *storage, int64_t nbytes, int *shared);

#pragma GCC visibility pop

#endif
