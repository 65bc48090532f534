/* Elements chosen by index tensors (LongTensors, 1-based) and masks (ByteTensors). */
#ifndef BRIDGE_INDEXING_H
#define BRIDGE_INDEXING_H

#include "loops/loops.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
/* For every position i of the vector `index`, with slices along `dim` (0-based): SELECT r[i] = a[index[i]]; COPY
   r[index[i]] = a[i]; ADD r[index[i]] += a[i]; FILL r[index[i]] = v (a NULL). */
enum { BR_INDEX_SELECT, BR_INDEX_COPY, BR_INDEX_ADD, BR_INDEX_FILL };
int br_index(int op, br_tensor *r, const br_tensor *a, int dim, const br_tensor *index, double v);
/* Along `dim`, for every element i of `index`: r[i] = a[index[i]]; r has index's shape. */
int br_gather(br_tensor *r, const br_tensor *a, int dim, const br_tensor *index);
/* r[index[i]] = a[i], or v if a is NULL; a has index's shape. The last of equal indices wins. */
int br_scatter(br_tensor *r, const br_tensor *a, int dim, const br_tensor *index, double v);
/* How many elements of the mask are 1. BR_VALUE: one is neither 0 nor 1. */
int br_mask_count(const br_tensor *mask, int64_t *count);
int br_masked_fill(br_tensor *r, const br_tensor *mask, double v);
/* Where the mask is 1, r takes the elements of a one after the other; a must have enough of them. */
int br_masked_copy(br_tensor *r, const br_tensor *mask, const br_tensor *a);
/* r = the elements of a where the mask is 1; r has exactly as many elements. */
int br_masked_select(br_tensor *r, const br_tensor *a, const br_tensor *mask);
/* The positions (1-based) of the elements of a that are not 0: a row of r for each, one column for each dimension. r is
   a contiguous LongTensor. BR_COUNT: it has too few rows. */
int br_nonzero(br_tensor *r, const br_tensor *a);
/* r = index - 1, for contiguous LongTensors with the same number of elements. BR_INDEX: an index is not in 1 ..
   limit. */
int br_index_from_zero(br_tensor *r, const br_tensor *index, int64_t limit);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

#endif
