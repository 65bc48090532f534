/* Direct convolution of planes or volumes. */
#ifndef BRIDGE_CONVOLVE_H
#define BRIDGE_CONVOLVE_H

#include "loops/loops.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
/* r = a * k, all contiguous; a and r are planes x depth x height x width. If k has five dimensions, it is r's planes x
   a's planes x depth x height x width, and each plane of r is a sum over all planes of a. If it has four, plane i of r
   comes from plane i of a and of k. `full`: depth, height and width of r are a's + k's - 1, else a's - k's + 1.
   `reversed`: k is read backwards. */
int br_convolve(br_tensor *r, const br_tensor *a, const br_tensor *k, int full, int reversed);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

#endif
