#include "loops/gather.h"

#include "loops/parallel.h"
#include "tensors/element.h"

#define GRAIN 65536 /* elements up to which one thread is done before a second one has started */
#define PARTS 16    /* parts of a long line; fixed, so that the result does not depend on the number of threads */
#define FEW 64      /* adjacent lines up to which threads share the rows, because there are too few lines to share */

typedef void (*rows_kernel)(gathered *g, const char *p, ptrdiff_t step, int64_t n, int64_t count, const double *v);

/* ---- lines: element after element, or in LANES partial results, which the compiler keeps in vector registers */

#define LANES 32

#define LINE(T, NAME, ACC, FIELD, UPDATE) \
   static WIDE void NAME##_##T(gathered *g, const char *p, ptrdiff_t step, int64_t n, double v) \
   { \
      (void)v; \
      ACC s = (ACC)g->FIELD; \
      if (step == sizeof(T##_s)) \
         for (int64_t i = 0; i < n; i++) { \
            const T##_c a = T##_load(((const T##_s *)p)[i]); \
            UPDATE; \
         } \
      else \
         for (; n > 0; n--, p += step) { \
            const T##_c a = T##_load(*(const T##_s *)p); \
            UPDATE; \
         } \
      g->FIELD = s; \
   }

/* Of LEAST elements or more: COUNT partial results at once, which are joined at the end. */
#define IN_LANES(COUNT, LEAST, T, ACC, INIT, UPDATE, JOIN) \
   if (n >= LEAST) { \
      ACC lane[COUNT]; \
      for (int k = 0; k < COUNT; k++) lane[k] = INIT; \
      for (; n >= COUNT; n -= COUNT, p += COUNT * sizeof(T##_s)) \
         for (int k = 0; k < COUNT; k++) { \
            const ACC a = T##_load(((const T##_s *)p)[k]), s = lane[k]; \
            lane[k] = UPDATE; \
         } \
      for (int width = COUNT / 2; width > 0; width /= 2) \
         for (int k = 0; k < width; k++) { \
            const ACC s = lane[k], b = lane[k + width]; \
            lane[k] = JOIN; \
         } \
      const ACC b = lane[0]; \
      s = JOIN; \
   }

#define LINE_IN_LANES(T, NAME, ACC, INIT, UPDATE, JOIN) \
   static WIDE void NAME##_##T(gathered *g, const char *p, ptrdiff_t step, int64_t n, double v) \
   { \
      (void)v; \
      ACC s = (ACC)g->d; \
      if (step == sizeof(T##_s)) { \
         IN_LANES(LANES, 4 * LANES, T, ACC, INIT, UPDATE, JOIN) \
         IN_LANES(8, 8, T, ACC, INIT, UPDATE, JOIN) \
      } \
      for (; n > 0; n--, p += step) { \
         const ACC a = T##_load(*(const T##_s *)p); \
         s = UPDATE; \
      } \
      g->d = s; \
   }

/* ---- rows: one partial result for each of the adjacent lines */

#define ROWS(T, NAME, UPDATE) \
   static WIDE void NAME##_rows_##T(gathered *restrict g, const char *p, ptrdiff_t step, int64_t n, int64_t count, \
                                    const double *restrict v) \
   { \
      (void)v; \
      for (; n > 0; n--, p += step) \
         _Pragma("GCC ivdep") for (int64_t k = 0; k < count; k++) { \
            const T##_c a = T##_load(((const T##_s *)p)[k]); \
            UPDATE; \
         } \
   }

/* Four rows at a time, so that each sum is loaded and stored only once for four rows. */
#define SUM_ROWS(T) \
   static WIDE void sum_rows_##T(gathered *restrict g, const char *p, ptrdiff_t step, int64_t n, int64_t count, \
                                 const double *restrict v) \
   { \
      (void)v; \
      for (; n >= 4; n -= 4, p += 4 * step) { \
         const T##_s *x = (const T##_s *)p, *y = (const T##_s *)(p + step); \
         const T##_s *z = (const T##_s *)(p + 2 * step), *w = (const T##_s *)(p + 3 * step); \
         _Pragma("GCC ivdep") for (int64_t k = 0; k < count; k++) \
            g[k].d += ((double)T##_load(x[k]) + T##_load(y[k])) + ((double)T##_load(z[k]) + T##_load(w[k])); \
      } \
      for (; n > 0; n--, p += step) \
         _Pragma("GCC ivdep") for (int64_t k = 0; k < count; k++) g[k].d += T##_load(((const T##_s *)p)[k]); \
   }

#define BOTH(T, NAME, ACC, FIELD, LINE_UPDATE, ROW_UPDATE) \
   LINE(T, NAME, ACC, FIELD, LINE_UPDATE) ROWS(T, NAME, ROW_UPDATE)

#define TRUTH(T) \
   BOTH(T, all, int, d, s &= a != 0, g[k].d = a != 0 ? g[k].d : 0) \
   BOTH(T, any, int, d, s |= a != 0, g[k].d = a != 0 ? 1 : g[k].d)
ALL_TYPES(TRUTH)

#define WRAPPED(OP, X, Y) ((int64_t)((uint64_t)(X) OP (uint64_t)(Y)))
#define INTEGER_GATHERS(T) \
   BOTH(T, sum, int64_t, i, s = WRAPPED(+, s, a), g[k].i = WRAPPED(+, g[k].i, a)) \
   BOTH(T, prod, int64_t, i, s = WRAPPED(*, s, a), g[k].i = WRAPPED(*, g[k].i, a)) \
   BOTH(T, max, int64_t, i, s = a > s ? a : s, g[k].i = a > g[k].i ? a : g[k].i) \
   BOTH(T, min, int64_t, i, s = a < s ? a : s, g[k].i = a < g[k].i ? a : g[k].i)
INTEGER_TYPES(INTEGER_GATHERS)

#define POWER(X, P) ((P) == 0 ? (X) != 0 : pow(fabs((double)(X)), P))
#define SQUARE(X) ((X) * (X))
/* The extreme S so far, or the element A if that is more extreme. A nan stays, and replaces any number. */
#define EXTREME(S, OP, A) ((S) OP (A) || (S) != (S) ? (S) : (A))
#define FLOAT_GATHERS(T) \
   LINE_IN_LANES(T, sum, double, 0, s + a, s + b) \
   SUM_ROWS(T) \
   LINE_IN_LANES(T, squares, double, 0, s + (a - v) * (a - v), s + b) \
   ROWS(T, squares, g[k].d += SQUARE((double)a - v[k])) \
   LINE_IN_LANES(T, norm1, double, 0, s + fabs(a), s + b) \
   ROWS(T, norm1, g[k].d += fabs((double)a)) \
   LINE_IN_LANES(T, prod, double, 1, s * a, s * b) \
   ROWS(T, prod, g[k].d *= a) \
   LINE_IN_LANES(T, max, T##_c, -INFINITY, EXTREME(s, >=, a), EXTREME(s, >=, b)) \
   ROWS(T, max, g[k].d = EXTREME(g[k].d, >=, a)) \
   LINE_IN_LANES(T, min, T##_c, INFINITY, EXTREME(s, <=, a), EXTREME(s, <=, b)) \
   ROWS(T, min, g[k].d = EXTREME(g[k].d, <=, a)) \
   BOTH(T, power, double, d, s += POWER(a, v), g[k].d += POWER(a, v[k]))
FLOAT_TYPES(FLOAT_GATHERS)

enum { NORM1 = BR_REDUCTIONS, NORM2, KERNELS };

#define KERNELS_OF(KIND) { \
   [BR_SUM] = PER_TYPE(sum##KIND), \
   [BR_PROD] = PER_TYPE(prod##KIND), \
   [BR_MAX] = PER_TYPE(max##KIND), \
   [BR_MIN] = PER_TYPE(min##KIND), \
   [BR_ALL] = PER_TYPE(all##KIND), \
   [BR_ANY] = PER_TYPE(any##KIND), \
   [BR_NORM] = PER_FLOAT(power##KIND), \
   [BR_SQUARES] = PER_FLOAT(squares##KIND), \
   [BR_MEAN] = PER_FLOAT(sum##KIND), \
   [BR_VAR] = PER_FLOAT(squares##KIND), \
   [BR_STD] = PER_FLOAT(squares##KIND), \
   [NORM1] = PER_FLOAT(norm1##KIND), \
   [NORM2] = PER_FLOAT(squares##KIND), \
}
static const br_gather lines[KERNELS][BR_TYPES] = KERNELS_OF();
static const rows_kernel rows[KERNELS][BR_TYPES] = KERNELS_OF(_rows);

/* The kernel for `op`: norms with the exponents 1 and 2 have their own. */
static int kernel_of(int op, double v) { return op != BR_NORM ? op : v == 2 ? NORM2 : v == 1 ? NORM1 : op; }

br_gather br_gather_of(int op, int dtype, double *v)
{
   if ((unsigned)op >= BR_REDUCTIONS) return NULL;
   int kernel = kernel_of(op, *v);
   if (kernel == NORM2) *v = 0; /* the number that is subtracted before squaring */
   return lines[kernel][dtype];
}

gathered br_gather_start(int op, int dtype)
{
   int integers = br_gathers_integers(op, dtype);
   switch (op) {
   case BR_PROD: return integers ? (gathered){.i = 1} : (gathered){.d = 1};
   case BR_MAX: return integers ? (gathered){.i = INT64_MIN} : (gathered){.d = -INFINITY};
   case BR_MIN: return integers ? (gathered){.i = INT64_MAX} : (gathered){.d = INFINITY};
   case BR_ALL: return (gathered){.d = 1};
   default: return integers ? (gathered){.i = 0} : (gathered){.d = 0};
   }
}

gathered br_gather_both(int op, int dtype, gathered a, gathered b)
{
   int integers = br_gathers_integers(op, dtype);
   switch (op) {
   case BR_PROD: return integers ? (gathered){.i = WRAPPED(*, a.i, b.i)} : (gathered){.d = a.d * b.d};
   case BR_MAX: return integers ? (a.i >= b.i ? a : b) : (gathered){.d = EXTREME(a.d, >=, b.d)};
   case BR_MIN: return integers ? (a.i <= b.i ? a : b) : (gathered){.d = EXTREME(a.d, <=, b.d)};
   case BR_ALL: return a.d == 0 ? a : b;
   case BR_ANY: return a.d != 0 ? a : b;
   default: return integers ? (gathered){.i = WRAPPED(+, a.i, b.i)} : (gathered){.d = a.d + b.d};
   }
}

/* ---- sharing among threads */

typedef struct shared {
   br_gather line;
   rows_kernel rows;
   const char *p;
   ptrdiff_t step;
   int64_t n, count;
   const double *v;
   gathered *parts; /* `count` partial results for each part */
} shared;

static void gather_parts(int64_t begin, int64_t end, void *context)
{
   const shared *s = context;
   for (int64_t part = begin; part < end; part++) {
      int64_t first = s->n * part / PARTS, n = s->n * (part + 1) / PARTS - first;
      gathered *g = s->parts + part * s->count;
      if (s->rows) s->rows(g, s->p + first * s->step, s->step, n, s->count, s->v);
      else s->line(g, s->p + first * s->step, s->step, n, *s->v);
   }
}

static void share(shared *s, int op, int dtype, gathered *g)
{
   gathered parts[PARTS * FEW];
   s->parts = parts;
   for (int64_t k = 0; k < PARTS * s->count; k++) parts[k] = br_gather_start(op, dtype);
   br_parallel(PARTS, 1, gather_parts, s);
   for (int64_t k = 0; k < PARTS * s->count; k++)
      g[k % s->count] = br_gather_both(op, dtype, g[k % s->count], parts[k]);
}

void br_gather_lines(int op, int dtype, gathered *g, const char *p, ptrdiff_t line_step, ptrdiff_t step, int64_t n,
                     int64_t count, const double *v)
{
   for (int64_t k = 0; k < count; k++, p += line_step) {
      double w = v[k];
      br_gather f = br_gather_of(op, dtype, &w);
      if (n > GRAIN) share(&(shared){.line = f, .p = p, .step = step, .n = n, .count = 1, .v = &w}, op, dtype, &g[k]);
      else f(&g[k], p, step, n, w);
   }
}

void br_gather_rows(int op, int dtype, gathered *g, const char *p, ptrdiff_t step, int64_t n, int64_t count,
                    const double *v)
{
   static const double zeros[BR_SIDE_BY_SIDE];
   int kernel = kernel_of(op, *v);
   rows_kernel f = rows[kernel][dtype];
   if (kernel == NORM2) v = zeros;
   if (count <= FEW && n * count > GRAIN)
      share(&(shared){.rows = f, .p = p, .step = step, .n = n, .count = count, .v = v}, op, dtype, g);
   else f(g, p, step, n, count, v);
}
