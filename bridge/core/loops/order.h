/* Order along a dimension: extremes, sorting, ranks. Every function also says where each value was, 1-based. */
#ifndef BRIDGE_ORDER_H
#define BRIDGE_ORDER_H

#include "loops/loops.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
/* values (a's type) and indices (a LongTensor) have a's shape, but `count` elements along `dim` (0-based). */
enum { BR_GREATEST, BR_LEAST, BR_ASCENDING, BR_DESCENDING, BR_KTH, BR_MODE };
/* GREATEST, LEAST: the first of them, or the first nan. ASCENDING, DESCENDING: sorted, equals in their order; the first
   `count`. KTH: the k-th smallest, k from 1. MODE: the smallest of the most frequent, its last place. */
int br_order(int op, br_tensor *values, br_tensor *indices, const br_tensor *a, int dim, int64_t k);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

#endif
