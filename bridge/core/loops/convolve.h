/* Direct convolution of planes or volumes. */
#ifndef BRIDGE_CONVOLVE_H
#define BRIDGE_CONVOLVE_H

#include "loops/loops.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
/* r = a * k, all contiguous. a: planes x depth x height x width. k: one more dimension in front, of r's planes, each of
   which sums over a's; or as many as a's, plane by plane. `full`: r has a's sizes + k's - 1, else a's - k's + 1.
   `reversed`: k is read backwards. */
int br_convolve(br_tensor *r, const br_tensor *a, const br_tensor *k, int full, int reversed);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

#endif
