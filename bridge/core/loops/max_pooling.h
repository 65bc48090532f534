/* Max pooling: the maximum of every window and its position in the plane, counted from 1 as nn's modules do. */
#ifndef BRIDGE_MAX_POOLING_H
#define BRIDGE_MAX_POOLING_H

#include "tensors/tensor.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
/* Planes (or volumes) and the windows that move over them. Arrays have an entry for each axis: time (or depth), height,
   width. An image has 1 for the first. */
typedef struct br_windows {
   int64_t planes;
   int64_t from[3], to[3]; /* size of an input plane and of an output plane */
   int64_t kernel[3], stride[3], padding[3], dilation[3];
} br_windows;

/* All tensors are contiguous and have planes * from or planes * to elements; `indices` is a LongTensor. A plane has
   fewer than 2^31 elements. A window that covers no element gives -infinity and index 0. */
int br_max_pool(br_tensor *output, br_tensor *indices, const br_tensor *input, const br_windows *w);
/* BR_INDEX: an index lies outside its plane; gradInput is then only partly computed. */
int br_max_pool_back(br_tensor *gradInput, const br_tensor *gradOutput, const br_tensor *indices, const br_windows *w);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

#endif
