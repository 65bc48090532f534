/* Products of small matrices, of vectors and of integers. Large products of floats are left to torch. */
#ifndef BRIDGE_BLAS_H
#define BRIDGE_BLAS_H

#include "loops/loops.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
/* r = beta r + alpha a b; with beta 0, r is not read. Sizes must fit, and r must not overlap a or b. */
int br_addmm(br_tensor *r, const br_tensor *a, const br_tensor *b, double beta, double alpha);
/* r = beta r + alpha a x, for a matrix and a vector. */
int br_addmv(br_tensor *r, const br_tensor *a, const br_tensor *x, double beta, double alpha);
/* r = beta r + alpha x y', for two vectors. */
int br_addr(br_tensor *r, const br_tensor *x, const br_tensor *y, double beta, double alpha);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

#endif
