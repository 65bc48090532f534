/* Reductions along a dimension: one number from every line. Also running sums and products along a dimension. */
#include "loops/gather.h"
#include "loops/loops.h"
#include "loops/parallel.h"
#include "tensors/element.h"
#include "tensors/walk.h"

#define GRAIN 32768 /* elements below which a second thread costs more than it saves */
#define ROW 2048    /* adjacent lines whose running sums are kept at once: enough to read memory in long pieces */

typedef struct job {
   int op, dtype, to_dtype;
   walk from, to; /* the lines, and where their results go */
   ptrdiff_t step;
   int64_t n;
   double v;
} job;

/* Write `count` results, `step` bytes apart. */
#define PUT(T, EXPR) \
   static void put_##T(char *p, ptrdiff_t step, int integers, const gathered *g, int64_t count) \
   { \
      (void)integers; \
      if (step == sizeof(T##_s)) { \
         _Pragma("GCC ivdep") for (int64_t k = 0; k < count; k++) ((T##_s *)p)[k] = T##_store(EXPR); \
      } else \
         for (int64_t k = 0; k < count; k++, p += step) *(T##_s *)p = T##_store(EXPR); \
   }
#define PUT_INTEGER(T) PUT(T, integers ? (T##_c)g[k].i : T##_from(g[k].d))
#define PUT_FLOAT(T) PUT(T, (T##_c)g[k].d)
INTEGER_TYPES(PUT_INTEGER)
FLOAT_TYPES(PUT_FLOAT)

static void (*const writers[BR_TYPES])(char *, ptrdiff_t, int, const gathered *, int64_t) = PER_TYPE(put);

/* Turn partial results into results: divide by the number of elements, take roots. */
static void finish(const job *j, gathered *g, int64_t count)
{
   double n = (double)j->n, v = j->v;
   double divisor = j->op == BR_MEAN || v == 1 ? n : n - 1;
   if (j->op == BR_MEAN || j->op == BR_VAR || j->op == BR_STD)
      for (int64_t k = 0; k < count; k++) g[k].d /= divisor;
   if (j->op == BR_STD || (j->op == BR_NORM && v == 2))
      for (int64_t k = 0; k < count; k++) g[k].d = sqrt(g[k].d);
   else if (j->op == BR_NORM && v != 1 && v != 0)
      for (int64_t k = 0; k < count; k++) g[k].d = pow(g[k].d, 1 / v);
}

static void gather(const job *j, int op, gathered *g, int64_t count, const double *v, const walk *from, int beside)
{
   gathered none = br_gather_start(op, j->dtype);
   for (int64_t k = 0; k < count; k++) g[k] = none;
   if (beside) br_gather_rows(op, j->dtype, g, from->p, j->step, j->n, count, v);
   else br_gather_lines(op, j->dtype, g, from->p, from->step, j->step, j->n, count, v);
}

static void lines(int64_t begin, int64_t end, void *context)
{
   const job *j = context;
   walk from, to;
   gathered g[BR_SIDE_BY_SIDE];
   double v[BR_SIDE_BY_SIDE];
   ptrdiff_t width = (ptrdiff_t)br_element_size(j->dtype);
   int centred = j->op == BR_VAR || j->op == BR_STD, integers = br_gathers_integers(j->op, j->dtype);
   for (int k = 0; k < BR_SIDE_BY_SIDE && k < end - begin; k++) v[k] = j->v;
   walk_from(&from, &j->from, begin);
   walk_from(&to, &j->to, begin);
   for (int64_t left = end - begin, count; left > 0; left -= count) {
      count = from.left < left ? from.left : left;
      if (count > BR_SIDE_BY_SIDE) count = BR_SIDE_BY_SIDE;
      int beside = from.step == width && j->step != width && count > 1;
      if (centred) {
         gather(j, BR_MEAN, g, count, v, &from, beside); /* a mean ignores v */
         for (int64_t k = 0; k < count; k++) v[k] = g[k].d / (double)j->n;
      }
      gather(j, j->op, g, count, v, &from, beside);
      finish(j, g, count);
      for (int64_t k = 0, some; k < count; k += some) {
         some = to.left < count - k ? to.left : count - k;
         writers[j->to_dtype](to.p, to.step, integers, g + k, some);
         walk_advance(&to, some);
      }
      walk_advance(&from, count);
   }
}

int br_reduce_dim(int op, br_tensor *r, const br_tensor *a, int dim, double v)
{
   double kernel_v = v;
   if (!br_gather_of(op, a->dtype, &kernel_v) || dim < 0 || dim >= a->nDimension) return BR_TYPE;
   int64_t count = tensor_elements(r), n = a->size[dim];
   if (count * n != tensor_elements(a)) return BR_COUNT;
   job j; /* filled in field by field: clearing its walks would take time */
   j.op = op;
   j.dtype = a->dtype;
   j.to_dtype = r->dtype;
   j.n = n;
   j.v = v;
   if (!walk_start(&j.to, r) || !walk_lines(&j.from, a, dim)) return BR_GONE;
   j.step = (ptrdiff_t)a->stride[dim] * (ptrdiff_t)br_element_size(a->dtype);
   /* A few long lines are shared among threads one by one, many lines all together. */
   if (count < 64 && n > GRAIN) lines(0, count, &j);
   else br_parallel(count, n < GRAIN ? GRAIN / n : 1, lines, &j);
   return BR_OK;
}

/* ---- running sums and products */

#define SCAN(T, SUM) \
   static void scan_##T(int op, char *r, ptrdiff_t rs, const char *p, ptrdiff_t step, int64_t n) \
   { \
      SUM s = op == BR_CUMSUM ? 0 : 1; \
      for (; n > 0; n--, r += rs, p += step) { \
         const T##_c a = T##_load(*(const T##_s *)p); \
         if (op == BR_CUMSUM) s += (SUM)a; \
         else s *= (SUM)a; \
         *(T##_s *)r = T##_store((T##_c)s); \
      } \
   } \
   /* Of `count` adjacent lines, row by row. */ \
   static WIDE void scans_##T(int op, char *r, ptrdiff_t rs, const char *p, ptrdiff_t step, int64_t n, int64_t count) \
   { \
      SUM s[ROW]; \
      for (int64_t k = 0; k < count; k++) s[k] = op == BR_CUMSUM ? 0 : 1; \
      for (; n > 0; n--, r += rs, p += step) { \
         const T##_s *x = (const T##_s *)p; \
         if (op == BR_CUMSUM) for (int64_t k = 0; k < count; k++) s[k] += (SUM)T##_load(x[k]); \
         else for (int64_t k = 0; k < count; k++) s[k] *= (SUM)T##_load(x[k]); \
         for (int64_t k = 0; k < count; k++) ((T##_s *)r)[k] = T##_store((T##_c)s[k]); \
      } \
   }
#define INTEGER_SCAN(T) SCAN(T, uint64_t)
#define FLOAT_SCAN(T) SCAN(T, double)
INTEGER_TYPES(INTEGER_SCAN)
FLOAT_TYPES(FLOAT_SCAN)

typedef struct running {
   int op, dtype;
   walk from, to; /* the lines */
   ptrdiff_t step, to_step;
   int64_t n;
} running;

static void scan_lines(int64_t begin, int64_t end, void *context)
{
   static void (*const one[BR_TYPES])(int, char *, ptrdiff_t, const char *, ptrdiff_t, int64_t) = PER_TYPE(scan);
   static void (*const many[BR_TYPES])(int, char *, ptrdiff_t, const char *, ptrdiff_t, int64_t, int64_t) =
      PER_TYPE(scans);
   const running *j = context;
   walk from, to;
   ptrdiff_t width = (ptrdiff_t)br_element_size(j->dtype);
   walk_from(&from, &j->from, begin);
   walk_from(&to, &j->to, begin);
   int beside = from.step == width && to.step == width && j->step != width;
   for (int64_t left = end - begin, count; left > 0; left -= count) {
      count = beside ? walk_shortest(&from, &to) : 1;
      if (count > left) count = left;
      if (count > ROW) count = ROW;
      if (count > 1) many[j->dtype](j->op, to.p, j->to_step, from.p, j->step, j->n, count);
      else one[j->dtype](j->op, to.p, j->to_step, from.p, j->step, j->n);
      walk_advance(&to, count);
      walk_advance(&from, count);
   }
}

int br_scan(int op, br_tensor *r, const br_tensor *a, int dim)
{
   if (r->dtype != a->dtype || dim < 0 || dim >= a->nDimension || r->nDimension != a->nDimension) return BR_TYPE;
   for (int d = 0; d < a->nDimension; d++)
      if (r->size[d] != a->size[d]) return BR_COUNT;
   running j;
   j.op = op;
   j.dtype = a->dtype;
   if (!walk_lines(&j.to, r, dim) || !walk_lines(&j.from, a, dim)) return BR_GONE;
   ptrdiff_t width = (ptrdiff_t)br_element_size(a->dtype);
   j.to_step = (ptrdiff_t)r->stride[dim] * width;
   j.step = (ptrdiff_t)a->stride[dim] * width;
   j.n = a->size[dim];
   br_parallel(tensor_elements(a) / j.n, j.n < GRAIN ? GRAIN / j.n : 1, scan_lines, &j);
   return BR_OK;
}
