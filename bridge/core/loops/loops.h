/* Native loops over tensors of any type, shape and stride: filling, copying, arithmetic, comparisons, reductions.
 *
 * A result must have the right number of elements before the call; shapes may differ. Every loop checks that the memory
 * behind each tensor still covers it. Nothing here calls Lua or Python, so a loop may be called from compiled Lua and
 * does not wait for a busy Python thread. The text between the BRIDGE_CDEF lines is read by ffi.cdef, after
 * layout.h. */
#ifndef BRIDGE_LOOPS_H
#define BRIDGE_LOOPS_H

#include "tensors/tensor.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
/* What a loop returns: BR_OK, or why it changed nothing. BR_GONE: the memory behind a tensor does not cover it.
   BR_COUNT: sizes do not fit. BR_TYPE: there is no such loop for these element types. BR_ZERO: an integer would be
   divided by zero. BR_INDEX: an index is out of range. BR_MEMORY: out of memory. BR_VALUE: an argument has a value that
   is not allowed. */
enum { BR_OK, BR_GONE, BR_COUNT, BR_TYPE, BR_ZERO, BR_INDEX, BR_MEMORY, BR_VALUE };

/* r = f(a), with the constants v and w. */
enum { BR_ADDS, BR_MULS, BR_DIVS, BR_FMODS, BR_REMAINDERS, BR_CMAXS, BR_CMINS, BR_CLAMP, BR_POWS, BR_TPOW,
       BR_LSHIFTS, BR_RSHIFTS, BR_ANDS, BR_ORS, BR_XORS, BR_ABS, BR_SIGN, BR_RSUBS, BR_RDIVS,
       BR_NEG, BR_CINV, BR_SQRT, BR_RSQRT, BR_EXP, BR_LOG, BR_LOG1P, BR_SIN, BR_COS, BR_TAN, BR_ASIN, BR_ACOS, BR_ATAN,
       BR_SINH, BR_COSH, BR_TANH, BR_FLOOR, BR_CEIL, BR_ROUND, BR_TRUNC, BR_FRAC, BR_SIGMOID,
       BR_THRESHOLD, BR_SOFTSHRINK, BR_SOFTSIGN, BR_CUT, BR_MAPS };
/* r = f(a, b), with the constant v. */
enum { BR_ADD, BR_MUL, BR_DIV, BR_FMOD, BR_REMAINDER, BR_CMAX, BR_CMIN, BR_POW, BR_LSHIFT, BR_RSHIFT, BR_AND, BR_OR,
       BR_XOR, BR_ATAN2, BR_LERP, BR_PAIRS };
/* r = f(a, b, c), with the constant v. */
enum { BR_ADDCMUL, BR_ADDCDIV, BR_PRELU, BR_TRIPLES };
/* r = f(a, b) for floating-point tensors, with the constants v and w. b is a gradient or another function of a; the
   value of a decides whether b is kept, scaled or replaced. */
enum { BR_ABOVE, BR_INSIDE, BR_WITHIN, BR_OUTSIDE, BR_MIRRORED, BR_SOFTSIGNBACK, BR_ELU, BR_ELUBACK, BR_SOFTPLUS,
       BR_SOFTPLUSBACK, BR_GATES };
enum { BR_LT, BR_GT, BR_LE, BR_GE, BR_EQ, BR_NE, BR_COMPARISONS };
/* Reductions: one number from many. v is the exponent of NORM, the number that SQUARES subtracts before it squares, and
   for VAR and STD 1 to divide by n instead of n - 1. NORM of a whole tensor is the sum of powers, without the root.
   MEAN, VAR and STD exist along a dimension only. */
enum { BR_SUM, BR_PROD, BR_MAX, BR_MIN, BR_NORM, BR_SQUARES, BR_ALL, BR_ANY, BR_MEAN, BR_VAR, BR_STD,
       BR_REDUCTIONS };
enum { BR_CUMSUM, BR_CUMPROD };

/* The float or double at an address as a number that is safe to hand to Lua: see plain_number in element.h. */
double br_number(const void *at, int dtype);
double br_half_to_double(uint16_t half);
uint16_t br_half_from_double(double x);

int br_fill(br_tensor *r, double v);
int br_copy(br_tensor *r, const br_tensor *a);
int br_map(int op, br_tensor *r, const br_tensor *a, double v, double w);
int br_pair(int op, br_tensor *r, const br_tensor *a, const br_tensor *b, double v);
int br_triple(int op, br_tensor *r, const br_tensor *a, const br_tensor *b, const br_tensor *c, double v);
int br_gate(int op, br_tensor *r, const br_tensor *a, const br_tensor *b, double v, double w);
/* r is a ByteTensor or has a's type. If b is NULL, a is compared with v. */
int br_compare(int op, br_tensor *r, const br_tensor *a, const br_tensor *b, double v);
int br_equal(const br_tensor *a, const br_tensor *b, int *equal);
int br_reduce(int op, const br_tensor *a, double v, double *result);
int br_dot(const br_tensor *a, const br_tensor *b, double *result);
/* sum of |a - b|^p */
int br_distance(const br_tensor *a, const br_tensor *b, double p, double *result);
/* r has a's shape with size[dim] = 1; dim is 0-based. */
int br_reduce_dim(int op, br_tensor *r, const br_tensor *a, int dim, double v);
int br_scan(int op, br_tensor *r, const br_tensor *a, int dim);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

#endif
