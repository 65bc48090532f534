/* What reductions do with the elements: along one line of them, and along many lines that lie side by side.
 *
 * Floats are gathered in doubles, integers in wrapping 64-bit integers. The order in which a line is gathered depends on
 * its length alone, so a result has the same bits with any number of threads. */
#ifndef BRIDGE_GATHER_H
#define BRIDGE_GATHER_H

#include <stddef.h>
#include <stdint.h>

#include "loops/loops.h"

/* Floats in `d`, integers in `i`. */
typedef union gathered {
   double d;
   int64_t i;
} gathered;

/* Add n elements, `step` bytes apart, to what g has. */
typedef void (*br_gather)(gathered *g, const char *p, ptrdiff_t step, int64_t n, double v);
/* The loop that does `op` on this type and takes `*v`, which it may change; NULL: there is none. */
br_gather br_gather_of(int op, int dtype, double *v);
/* Are the results of `op` in `i`? Sums, products and extremes of integers are. */
static inline int br_gathers_integers(int op, int dtype) { return dtype <= BR_LONG && op <= BR_MIN; }
/* What there is before the first element. */
gathered br_gather_start(int op, int dtype);
/* Two parts as one. */
gathered br_gather_both(int op, int dtype, gathered a, gathered b);

/* Add the n elements of each of `count` lines to what g has for it; v as for br_reduce, for each line. Elements lie `step`
   bytes apart, lines `line_step`. A long line is shared among threads. */
void br_gather_lines(int op, int dtype, gathered *g, const char *p, ptrdiff_t line_step, ptrdiff_t step, int64_t n,
                     int64_t count, const double *v);

enum { BR_SIDE_BY_SIDE = 512 }; /* lines at most */
/* The same for lines whose elements lie next to each other: n rows, `step` bytes apart. `v`: for each line. */
void br_gather_rows(int op, int dtype, gathered *g, const char *p, ptrdiff_t step, int64_t n, int64_t count,
                    const double *v);

#endif
