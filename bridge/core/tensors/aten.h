/* Calling torch's operators through its stable C shim: no GIL, no headers of torch, symbols found at run time.
 *
 * Every call takes tensors of ours and returns 0, or another number after which br_torch_error() says what was
 * wrong. */
#ifndef BRIDGE_ATEN_H
#define BRIDGE_ATEN_H

#include "tensors/tensor.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
/* One argument of an operator; an int list takes two: where the numbers lie, and how many. */
typedef union br_argument {
   br_tensor *tensor;
   int64_t integer;
   double number;
   const int64_t *list;
   const char *string;
} br_argument;

/* Find the shim in torch's library. Returns NULL, or what is missing: the path or a function's name. */
const char *br_aten_load(const char *path);
/* Call `name`.`overload` with arguments of the kinds in `kinds`, a letter each: T tensor, i int, f float, b bool,
   I int list, s string, n None, S a number as a tensor without dimension, of the type of the first
   tensor of the call (which truncates and wraps as Torch7 does), M a ByteTensor as a mask;
   a ? before a letter: the parameter is optional. The operator must write its `results` into tensors that it was given
   (an out= overload, or one that ends in _). Tensors on the CPU and on a device do not go together. */
int br_aten_call(const char *name, const char *overload, const char *kinds, const br_argument *arguments, int results);
/* The same for an operator that returns new tensors. Result i is copied into the tensor into[i], which already has its
   size, or dropped if into[i] is NULL. */
int br_aten_call_into(const char *name, const char *overload, const char *kinds, const br_argument *arguments,
                      int results, br_tensor *const *into);
/* r = beta m + alpha a b for matrices, or for batches of them (three dimensions). r may be m. */
int br_aten_matmul(br_tensor *r, br_tensor *m, br_tensor *a, br_tensor *b, double beta, double alpha);
/* r = a, of equal sizes, between the CPU and devices, of any types. */
int br_aten_copy(br_tensor *r, br_tensor *a);
/* r = a + v b for floats of equal sizes on a device; b NULL: r = a + v. */
int br_aten_add(br_tensor *r, br_tensor *a, br_tensor *b, double v);
/* Find the functions for matrix products on a GPU in torch's library for CUDA. Returns NULL, or what is missing: the
   path or a function's name. */
const char *br_aten_load_cuda(const char *path);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

#endif
