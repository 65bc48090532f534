/* Storages over a part of another storage's memory. */
#ifndef BRIDGE_STORAGE_PART_H
#define BRIDGE_STORAGE_PART_H

#include "tensors/tensor.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
/* `size` elements of the parent's memory from `start` (0-based), which stays alive as long as this storage reads it.
   NULL: out of memory, the part is not within it, or it is memory that its owner may move. */
br_storage *br_storage_part(br_storage *parent, int64_t start, int64_t size);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

#endif
