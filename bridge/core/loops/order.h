/* Order along a dimension: largest and smallest elements, sorting, ranks. Every value comes with the position of its
   element, counted from 1. */
#ifndef BRIDGE_ORDER_H
#define BRIDGE_ORDER_H

#include "loops/loops.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
/* values (a's type) and indices (a LongTensor) have a's shape, but `count` elements along `dim` (0-based). */
enum { BR_GREATEST, BR_LEAST, BR_ASCENDING, BR_DESCENDING, BR_KTH, BR_MODE };
/* GREATEST, LEAST: the first such element, or the first nan if there is one. ASCENDING, DESCENDING: the first `count`
   elements of the sorted line; equal ones keep their order. KTH: the k-th smallest, k from 1. MODE: the most frequent
   element (the smallest of several) and its last position. */
int br_order(int op, br_tensor *values, br_tensor *indices, const br_tensor *a, int dim, int64_t k);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

#endif
