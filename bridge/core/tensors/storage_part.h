/* Storages over a part of another storage's memory. */
#ifndef BRIDGE_STORAGE_PART_H
#define BRIDGE_STORAGE_PART_H

#include "tensors/tensor.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
/* A storage over `size` elements of the parent's memory from `start` (0-based) on, which it keeps alive. NULL: out of
   memory, the part is not within the parent, or the owner of the memory may move it. */
br_storage *br_storage_part(br_storage *parent, int64_t start, int64_t size);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

#endif
