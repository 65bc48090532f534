/* One number from a whole tensor, or from two. */
#include "loops/gather.h"
#include "loops/loops.h"
#include "loops/parallel.h"
#include "tensors/element.h"
#include "tensors/walk.h"

#define GRAIN 65536 /* elements below which a second thread costs more than it saves */
#define ARRANGED 32 /* elements below which reordering the dimensions costs more than it saves */
#define PARTS 16 /* parts of a large tensor; fixed, so that the result does not depend on the number of threads */

typedef struct job {
   int op, dtype;
   const walk *walk;
   int64_t n;
   double v;
   gathered parts[PARTS];
} job;

static void gather_runs(int op, int dtype, br_gather f, double kernel_v, walk *w, int64_t n, double v, gathered *g)
{
   while (n > 0) {
      int64_t count = w->left < n ? w->left : n;
      if (count <= GRAIN) f(g, w->p, w->step, count, kernel_v);
      else br_gather_lines(op, dtype, g, w->p, 0, w->step, count, 1, &v);
      walk_advance(w, count);
      n -= count;
   }
}

static void gather_parts(int64_t begin, int64_t end, void *context)
{
   job *j = context;
   for (int64_t part = begin; part < end; part++) {
      int64_t first = j->n * part / PARTS, last = j->n * (part + 1) / PARTS;
      walk w;
      walk_from(&w, j->walk, first);
      j->parts[part] = br_gather_start(j->op, j->dtype);
      double kernel_v = j->v;
      br_gather f = br_gather_of(j->op, j->dtype, &kernel_v);
      gather_runs(j->op, j->dtype, f, kernel_v, &w, last - first, j->v, &j->parts[part]);
   }
}

/* For a large tensor of several runs; a tensor that is one run is shared among threads by br_gather_lines. */
static gathered gather_large(int op, const br_tensor *a, const walk *w, int64_t n, double v)
{
   job j = {.op = op, .dtype = a->dtype, .walk = w, .n = n, .v = v};
   br_parallel(PARTS, 1, gather_parts, &j);
   for (int k = 1; k < PARTS; k++) j.parts[0] = br_gather_both(op, a->dtype, j.parts[0], j.parts[k]);
   return j.parts[0];
}

int br_reduce(int op, const br_tensor *a, double v, double *result)
{
   double kernel_v = v;
   walk w;
   arranged room;
   br_gather f = br_gather_of(op, a->dtype, &kernel_v);
   if (!f) return BR_TYPE;
   if (!walk_start(&w, a)) return BR_GONE;
   int64_t n = tensor_elements(a);
   if (w.outer && n >= ARRANGED && walk_arrange(&a, &room, 1)) walk_start(&w, a);
   gathered g = {0}; /* the result for an empty tensor, also of extremes */
   if (w.outer && n > GRAIN) g = gather_large(op, a, &w, n, v);
   else if (n > 0 || op == BR_PROD || op == BR_ALL) {
      g = br_gather_start(op, a->dtype);
      gather_runs(op, a->dtype, f, kernel_v, &w, n, v, &g);
   }
   *result = br_gathers_integers(op, a->dtype) ? (double)g.i : plain_number(g.d);
   return BR_OK;
}

/* ---- two tensors into one number */

/* The sum over a run wraps as the element type does, as the result of a BLAS would; sums of several runs are added as
   64-bit integers. */
#define INTEGER_DOT(T) \
   static WIDE gathered dot_##T(const char *p, ptrdiff_t ps, const char *q, ptrdiff_t qs, int64_t n, double e) \
   { \
      uint64_t s = 0; \
      (void)e; \
      for (; n > 0; n--, p += ps, q += qs) \
         s += (uint64_t)T##_load(*(const T##_s *)p) * (uint64_t)T##_load(*(const T##_s *)q); \
      return (gathered){.i = (int64_t)(T##_c)(T##_s)s}; \
   }

/* Of LEAST pairs or more: their TERMs in COUNT sums of type ACC at once, which the compiler keeps in vector
   registers. */
#define IN_LANES(COUNT, LEAST, T, ACC, TERM) \
   if (n >= LEAST) { \
      ACC lane[COUNT] = {0}; \
      for (; n >= COUNT; n -= COUNT, p += COUNT * sizeof(T##_s), q += COUNT * sizeof(T##_s)) \
         for (int k = 0; k < COUNT; k++) { \
            const ACC a = T##_load(((const T##_s *)p)[k]), b = T##_load(((const T##_s *)q)[k]); \
            lane[k] += TERM; \
         } \
      for (int width = COUNT / 2; width > 0; width /= 2) \
         for (int k = 0; k < width; k++) lane[k] += lane[k + width]; \
      s += lane[0]; \
   }
#define FLOAT_PAIRS(T, NAME, ACC, TERM) \
   static WIDE gathered NAME##_##T(const char *p, ptrdiff_t ps, const char *q, ptrdiff_t qs, int64_t n, double e) \
   { \
      ACC s = 0; \
      (void)e; \
      if (ps == sizeof(T##_s) && qs == sizeof(T##_s)) { \
         IN_LANES(32, 128, T, ACC, TERM) \
         IN_LANES(8, 8, T, ACC, TERM) \
      } \
      for (; n > 0; n--, p += ps, q += qs) { \
         const ACC a = T##_load(*(const T##_s *)p), b = T##_load(*(const T##_s *)q); \
         s += TERM; \
      } \
      return (gathered){.d = s}; \
   }
#define FLOAT_KERNELS(T) \
   FLOAT_PAIRS(T, dot, T##_c, a * b) /* summed in the element type, as a BLAS does */ \
   FLOAT_PAIRS(T, distance1, double, fabs(a - b)) \
   FLOAT_PAIRS(T, distance2, double, (a - b) * (a - b)) \
   FLOAT_PAIRS(T, distance, double, pow(fabs(a - b), e))
INTEGER_TYPES(INTEGER_DOT)
FLOAT_TYPES(FLOAT_KERNELS)

typedef gathered (*pair_sum)(const char *p, ptrdiff_t ps, const char *q, ptrdiff_t qs, int64_t n, double e);

typedef struct pair_job {
   pair_sum f;
   const walk *x, *y;
   int64_t n;
   double e;
   gathered parts[PARTS];
} pair_job;

static gathered sum_runs(pair_sum f, walk *x, walk *y, int64_t n, double e, int integers)
{
   gathered sum = {0};
   while (n > 0) {
      int64_t count = walk_shortest(x, y);
      if (count > n) count = n;
      gathered g = f(x->p, x->step, y->p, y->step, count, e);
      if (integers) sum.i = (int64_t)((uint64_t)sum.i + (uint64_t)g.i);
      else sum.d += g.d;
      walk_advance(x, count);
      walk_advance(y, count);
      n -= count;
   }
   return sum;
}

static void sum_parts(int64_t begin, int64_t end, void *context)
{
   pair_job *m = context;
   for (int64_t k = begin; k < end; k++) {
      int64_t first = m->n * k / PARTS, last = m->n * (k + 1) / PARTS;
      walk x, y;
      walk_from(&x, m->x, first);
      walk_from(&y, m->y, first);
      m->parts[k] = sum_runs(m->f, &x, &y, last - first, m->e, 0);
   }
}

/* The sum of f over all pairs of elements. An integer sum wraps at the end of every run, so it is not split into
   parts. */
static int sum_pairs(const pair_sum *f, const br_tensor *a, const br_tensor *b, double e, double *result)
{
   walk x, y;
   int64_t n = tensor_elements(a);
   int integers = a->dtype <= BR_LONG;
   if (a->dtype != b->dtype || !f[a->dtype]) return BR_TYPE;
   if (tensor_elements(b) != n) return BR_COUNT;
   if (!walk_start(&x, a) || !walk_start(&y, b)) return BR_GONE;
   if (integers || n <= GRAIN) {
      gathered sum = sum_runs(f[a->dtype], &x, &y, n, e, integers);
      *result = integers ? (double)sum.i : plain_number(sum.d);
      return BR_OK;
   }
   pair_job m = {.f = f[a->dtype], .x = &x, .y = &y, .n = n, .e = e};
   br_parallel(PARTS, 1, sum_parts, &m);
   double sum = 0;
   for (int k = 0; k < PARTS; k++) sum += m.parts[k].d;
   *result = plain_number(sum);
   return BR_OK;
}

int br_dot(const br_tensor *a, const br_tensor *b, double *result)
{
   static const pair_sum dots[BR_TYPES] = PER_TYPE(dot);
   return sum_pairs(dots, a, b, 0, result);
}

int br_distance(const br_tensor *a, const br_tensor *b, double p, double *result)
{
   static const pair_sum first[BR_TYPES] = PER_FLOAT(distance1), second[BR_TYPES] = PER_FLOAT(distance2);
   static const pair_sum any[BR_TYPES] = PER_FLOAT(distance);
   return sum_pairs(p == 2 ? second : p == 1 ? first : any, a, b, p, result);
}
