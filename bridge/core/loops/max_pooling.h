/* Maxima of windows, with the place of each counted from 1, as nn's modules keep it. */
#ifndef BRIDGE_MAX_POOLING_H
#define BRIDGE_MAX_POOLING_H

#include "tensors/tensor.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
/* Planes (or volumes) and the windows that move over them; for each axis T, H, W in this order. An image has T = 1. */
typedef struct br_windows {
   int64_t planes;
   int64_t from[3], to[3]; /* sizes of an input plane and of an output plane */
   int64_t kernel[3], stride[3], padding[3], dilation[3];
} br_windows;

/* All tensors are contiguous and have planes * from or planes * to elements; indices are a LongTensor. A plane has less
   than 2^31 elements, every window at least one of them. */
int br_max_pool(br_tensor *output, br_tensor *indices, const br_tensor *input, const br_windows *w);
/* Refuses indices outside a plane with BR_INDEX; gradInput is then half done. */
int br_max_pool_back(br_tensor *gradInput, const br_tensor *gradOutput, const br_tensor *indices, const br_windows *w);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

#endif
