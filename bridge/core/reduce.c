/* One number from a whole tensor, or from two. */
#include "element.h"
#include "gather.h"
#include "loops.h"
#include "parallel.h"
#include "walk.h"

#define GRAIN 65536
#define PARTS 16 /* of a large tensor, however many threads there are: the result's bits do not depend on them */

typedef struct job {
   int op, dtype;
   const walk *walk;
   int64_t n;
   double v;
   gathered parts[PARTS];
} job;

static void gather_runs(const job *j, walk *w, int64_t n, gathered *g)
{
   while (n > 0) {
      int64_t count = w->left < n ? w->left : n;
      br_gather_lines(j->op, j->dtype, g, w->p, 0, w->step, count, 1, &j->v);
      walk_advance(w, count);
      n -= count;
   }
}

static void gather_parts(int64_t begin, int64_t end, void *context)
{
   job *j = context;
   for (int64_t part = begin; part < end; part++) {
      int64_t first = j->n * part / PARTS, last = j->n * (part + 1) / PARTS;
      walk w = *j->walk;
      walk_skip(&w, first);
      gather_runs(j, &w, last - first, &j->parts[part]);
   }
}

int br_reduce(int op, const br_tensor *a, double v, double *result)
{
   if (!br_gathers(op, a->dtype)) return BR_TYPE;
   walk w;
   arranged room;
   if (!walk_start(&w, a)) return BR_GONE;
   if (w.outer) {
      walk_arrange(&a, &room, 1);
      walk_start(&w, a);
   }
   job j = {.op = op, .dtype = a->dtype, .walk = &w, .n = tensor_elements(a), .v = v};
   int empty = j.n == 0 && op != BR_PROD && op != BR_ALL; /* extremes too are 0 then */
   gathered g = empty ? (gathered){0} : br_gather_start(op, a->dtype);
   if (w.outer && j.n > GRAIN) {
      for (int k = 0; k < PARTS; k++) j.parts[k] = br_gather_start(op, a->dtype);
      br_parallel(PARTS, 1, gather_parts, &j);
      for (int k = 0; k < PARTS; k++) g = br_gather_both(op, a->dtype, g, j.parts[k]);
   } else gather_runs(&j, &w, j.n, &g); /* a long run is shared out by itself */
   *result = br_gathers_integers(op, a->dtype) ? (double)g.i : plain_number(g.d);
   return BR_OK;
}

/* ---- two tensors into one number */

/* Every run's sum wraps as its type does, as BLAS's result would; their sum is a long. */
#define INTEGER_DOT(T) \
   static void dot_##T(gathered *g, const char *p, ptrdiff_t ps, const char *q, ptrdiff_t qs, int64_t n) \
   { \
      uint64_t s = 0; \
      for (; n > 0; n--, p += ps, q += qs) \
         s += (uint64_t)T##_load(*(const T##_s *)p) * (uint64_t)T##_load(*(const T##_s *)q); \
      g->i = (int64_t)((uint64_t)g->i + (uint64_t)(T##_s)s); \
   }
/* Eight sums in the type itself, as a BLAS would. */
#define FLOAT_DOT(T) \
   static void dot_##T(gathered *g, const char *p, ptrdiff_t ps, const char *q, ptrdiff_t qs, int64_t n) \
   { \
      T##_c s[8] = {0}; \
      if (ps == sizeof(T##_s) && qs == sizeof(T##_s)) { \
         const T##_s *x = (const T##_s *)p, *y = (const T##_s *)q; \
         for (; n >= 8; n -= 8, x += 8, y += 8) \
            for (int k = 0; k < 8; k++) s[k] += T##_load(x[k]) * T##_load(y[k]); \
         p = (const char *)x; \
         q = (const char *)y; \
      } \
      for (; n > 0; n--, p += ps, q += qs) s[0] += T##_load(*(const T##_s *)p) * T##_load(*(const T##_s *)q); \
      g->d += ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])); \
   }
INTEGER_TYPES(INTEGER_DOT)
FLOAT_TYPES(FLOAT_DOT)

int br_dot(const br_tensor *a, const br_tensor *b, double *result)
{
   static void (*const dots[BR_DTYPES])(gathered *, const char *, ptrdiff_t, const char *, ptrdiff_t, int64_t) =
      PER_TYPE(dot);
   if (a->dtype != b->dtype) return BR_TYPE;
   walk x, y;
   int64_t n = tensor_elements(a);
   if (tensor_elements(b) != n) return BR_COUNT;
   if (!walk_start(&x, a) || !walk_start(&y, b)) return BR_GONE;
   gathered g = {0};
   while (n > 0) {
      int64_t count = walk_shortest(&x, &y);
      dots[a->dtype](&g, x.p, x.step, y.p, y.step, count);
      walk_advance(&x, count);
      walk_advance(&y, count);
      n -= count;
   }
   *result = a->dtype <= BR_LONG ? (double)g.i : plain_number(g.d);
   return BR_OK;
}

static double number_at(int dtype, const char *p)
{
   return dtype == BR_DOUBLE ? *(const double *)p : dtype == BR_FLOAT ? *(const float *)p
                                                                       : half_to_float(*(const uint16_t *)p);
}

int br_distance(const br_tensor *a, const br_tensor *b, double p, double *result)
{
   if (a->dtype != b->dtype || a->dtype < BR_HALF) return BR_TYPE;
   walk x, y;
   int64_t n = tensor_elements(a);
   if (tensor_elements(b) != n) return BR_COUNT;
   if (!walk_start(&x, a) || !walk_start(&y, b)) return BR_GONE;
   double sum = 0;
   for (; n > 0; n--) {
      double difference = fabs(number_at(a->dtype, x.p) - number_at(b->dtype, y.p));
      sum += p == 2 ? difference * difference : p == 1 ? difference : pow(difference, p);
      walk_advance(&x, 1);
      walk_advance(&y, 1);
   }
   *result = plain_number(sum);
   return BR_OK;
}

