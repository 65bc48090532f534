/* The inner loops of reductions: over one line of elements, and over many adjacent lines at once.
 *
 * Floats are accumulated in doubles, integers in wrapping 64-bit integers. The order of the additions depends only on a
 * line's length, so a result has the same bits with any number of threads. */
#ifndef BRIDGE_GATHER_H
#define BRIDGE_GATHER_H

#include <stddef.h>
#include <stdint.h>

#include "loops/loops.h"

/* A partial result: `i` where br_gathers_integers says so, else `d`. */
typedef union gathered {
   double d;
   int64_t i;
} gathered;

/* Add n elements, `step` bytes apart, to the partial result in g; v is br_reduce's. */
typedef void (*br_gather)(gathered *g, const char *p, ptrdiff_t step, int64_t n, double v);
/* The loop for `op` on this type; NULL: there is none. The loop must be called with `*v`, which this function may
   change. */
br_gather br_gather_of(int op, int dtype, double *v);
/* Is the partial result of `op` in `i`? True for sums, products and extremes of integers. */
static inline int br_gathers_integers(int op, int dtype) { return dtype <= BR_LONG && op <= BR_MIN; }
/* The partial result before the first element. */
gathered br_gather_start(int op, int dtype);
/* Two partial results combined. */
gathered br_gather_both(int op, int dtype, gathered a, gathered b);

/* Add the n elements of each of `count` lines to that line's entry of g; v has br_reduce's v for each line. Elements
   are `step` bytes apart, lines `line_step` bytes. A long line is shared among threads. */
void br_gather_lines(int op, int dtype, gathered *g, const char *p, ptrdiff_t line_step, ptrdiff_t step, int64_t n,
                     int64_t count, const double *v);

enum { BR_SIDE_BY_SIDE = 512 }; /* the most lines br_gather_rows takes */
/* The same for adjacent lines: n rows, `step` bytes apart, of `count` contiguous elements each, one for each line. */
void br_gather_rows(int op, int dtype, gathered *g, const char *p, ptrdiff_t step, int64_t n, int64_t count,
                    const double *v);

#endif
