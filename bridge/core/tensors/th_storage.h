/* Sharing the memory of a real Torch7's storages.
 *
 * TH, Torch7's C library, frees a storage's memory when the storage grows, moves or is freed, even if an array in
 * Python still reads it. So a storage whose memory is shared gets an allocator of ours, which frees the memory only
 * when its last reader is gone. It then behaves like our own storages. */
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

/* Set the allocator that TH uses for ordinary storages. Memory of any other allocator is not shared. */
void br_th_default(br_th_allocator *allocator);

/* Make a storage over foreign memory own `block`, the block over that memory, and able to grow. It takes over the
   caller's reference. 0, or -1: out of memory, the reference is still the caller's. */
int br_th_own(br_th_storage *storage, br_block *block);
/* BRIDGE_CDEF end */

/* A reference to the block over a storage's memory. NULL with `*shared` 1: out of memory. NULL with `*shared` 0: this
   memory cannot be shared (it is a mapped file, or another allocator's) and has to be copied. */
br_block *br_th_share(br_th_storage *storage, int64_t nbytes, int *shared);

#pragma GCC visibility pop

#endif
