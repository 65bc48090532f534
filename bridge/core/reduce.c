/* One number from a whole tensor, or one from every line along a dimension. */
#include "element.h"
#include "loops.h"
#include "parallel.h"
#include "walk.h"

/* What a reduction has gathered: floats in `d`, integers (wrapping) in `i`. */
typedef struct gathered {
   double d;
   int64_t i;
   int started;
} gathered;

typedef void (*gather)(gathered *g, const char *p, ptrdiff_t step, int64_t n, double v);

#define GATHER(T, NAME, SETUP, EACH, FINISH) \
   static void NAME##_##T(gathered *g, const char *p, ptrdiff_t step, int64_t n, double v) \
   { \
      (void)v; \
      SETUP; \
      for (; n > 0; n--, p += step) { \
         const T##_c a = T##_load(*(const T##_s *)p); \
         EACH; \
      } \
      FINISH; \
   }

#define EXTREME(T, NAME, FIELD, BETTER) \
   GATHER(T, NAME, if (!g->started) { g->FIELD = T##_load(*(const T##_s *)p); g->started = 1; }, \
          if (BETTER) g->FIELD = a, )
#define TRUTH(T) \
   GATHER(T, all, if (!g->started) { g->d = 1; g->started = 1; }, if (a == 0) g->d = 0, ) \
   GATHER(T, any, , if (a != 0) g->d = 1, )
ALL_TYPES(TRUTH)

#define INTEGER_GATHERS(T) \
   GATHER(T, sum, uint64_t s = (uint64_t)g->i, s += (uint64_t)a, g->i = (int64_t)s) \
   GATHER(T, prod, uint64_t s = g->started ? (uint64_t)g->i : 1, s *= (uint64_t)a, g->i = (int64_t)s; g->started = 1) \
   EXTREME(T, max, i, a > g->i) EXTREME(T, min, i, a < g->i)
INTEGER_TYPES(INTEGER_GATHERS)

/* Eight sums at once, which the compiler keeps in vector registers. */
#define SUM_FLOATS(T, NAME, TERM) \
   static void NAME##_##T(gathered *g, const char *p, ptrdiff_t step, int64_t n, double v) \
   { \
      (void)v; \
      double s[8] = {g->d}; \
      if (step == sizeof(T##_s)) { \
         const T##_s *x = (const T##_s *)p; \
         for (; n >= 8; n -= 8, x += 8) \
            for (int k = 0; k < 8; k++) { \
               const double a = T##_load(x[k]); \
               s[k] += TERM; \
            } \
         p = (const char *)x; \
      } \
      for (; n > 0; n--, p += step) { \
         const double a = T##_load(*(const T##_s *)p); \
         s[0] += TERM; \
      } \
      g->d = ((s[0] + s[1]) + (s[2] + s[3])) + ((s[4] + s[5]) + (s[6] + s[7])); \
   }
/* Eight extremes at once; a nan, once met, stays. */
#define EXTREME_FLOATS(T, NAME, OP) \
   static void NAME##_##T(gathered *g, const char *p, ptrdiff_t step, int64_t n, double v) \
   { \
      (void)v; \
      T##_c best = g->started ? (T##_c)g->d : T##_load(*(const T##_s *)p); \
      if (step == sizeof(T##_s)) { \
         const T##_s *x = (const T##_s *)p; \
         T##_c m[8] = {best, best, best, best, best, best, best, best}; \
         for (; n >= 8; n -= 8, x += 8) \
            for (int k = 0; k < 8; k++) { \
               const T##_c a = T##_load(x[k]); \
               m[k] = m[k] OP a || m[k] != m[k] ? m[k] : a; \
            } \
         for (int k = 0; k < 8; k++) best = best OP m[k] || best != best ? best : m[k]; \
         p = (const char *)x; \
      } \
      for (; n > 0; n--, p += step) { \
         const T##_c a = T##_load(*(const T##_s *)p); \
         best = best OP a || best != best ? best : a; \
      } \
      g->d = best; \
      g->started = 1; \
   }
#define FLOAT_GATHERS(T) \
   SUM_FLOATS(T, sum, a) SUM_FLOATS(T, squares, (a - v) * (a - v)) SUM_FLOATS(T, norm1, fabs(a)) \
   EXTREME_FLOATS(T, max, >=) EXTREME_FLOATS(T, min, <=) \
   GATHER(T, prod, double s = g->started ? g->d : 1, s *= a, g->d = s; g->started = 1) \
   GATHER(T, power, double s = g->d, s += v == 0 ? a != 0 : pow(fabs(a), v), g->d = s) \
   static void norm_##T(gathered *g, const char *p, ptrdiff_t step, int64_t n, double v) \
   { \
      if (v == 2) squares_##T(g, p, step, n, 0); \
      else if (v == 1) norm1_##T(g, p, step, n, 0); \
      else power_##T(g, p, step, n, v); \
   }
FLOAT_TYPES(FLOAT_GATHERS)

static const gather gathers[BR_REDUCTIONS][BR_DTYPES] = {
   [BR_SUM] = PER_TYPE(sum), [BR_PROD] = PER_TYPE(prod), [BR_MAX] = PER_TYPE(max), [BR_MIN] = PER_TYPE(min),
   [BR_NORM] = PER_FLOAT(norm), [BR_SQUARES] = PER_FLOAT(squares), [BR_ALL] = PER_TYPE(all), [BR_ANY] = PER_TYPE(any),
   [BR_MEAN] = PER_FLOAT(sum), [BR_VAR] = PER_FLOAT(squares), [BR_STD] = PER_FLOAT(squares),
};

/* Sums, products and extremes of integers are integers. */
static int in_integers(int op, int dtype) { return dtype <= BR_LONG && op <= BR_MIN; }

/* ---- a whole tensor; a long run is shared among torch's threads */

#define GRAIN 65536
#define PARTS 16

typedef struct shared {
   gather f;
   const char *p;
   ptrdiff_t step;
   int64_t n;
   double v;
   gathered parts[PARTS];
} shared;

static void gather_parts(int64_t begin, int64_t end, void *context)
{
   shared *s = context;
   for (int64_t k = begin; k < end; k++) {
      int64_t first = s->n * k / PARTS, last = s->n * (k + 1) / PARTS;
      s->f(&s->parts[k], s->p + first * s->step, s->step, last - first, s->v);
   }
}

/* Sums and extremes of the parts; 0: this reduction has to be done in one go. */
static int reduce_parts(int op, gather f, const walk *w, double v, gathered *g)
{
   if (op != BR_SUM && op != BR_SQUARES && op != BR_NORM && op != BR_MAX && op != BR_MIN) return 0;
   shared s = {.f = f, .p = w->p, .step = w->step, .n = w->run, .v = v};
   br_parallel(PARTS, 1, gather_parts, &s);
   *g = s.parts[0];
   for (int k = 1; k < PARTS; k++) {
      gathered *x = &s.parts[k];
      if (op == BR_MAX || op == BR_MIN) {
         if (g->d == g->d && (x->d != x->d || (op == BR_MAX ? x->d > g->d : x->d < g->d))) g->d = x->d;
         if (op == BR_MAX ? x->i > g->i : x->i < g->i) g->i = x->i;
      } else {
         g->d += x->d;
         g->i = (int64_t)((uint64_t)g->i + (uint64_t)x->i);
      }
   }
   return 1;
}

int br_reduce(int op, const br_tensor *a, double v, double *result)
{
   if ((unsigned)op >= BR_REDUCTIONS) return BR_TYPE;
   gather f = gathers[op][a->dtype];
   if (!f) return BR_TYPE;
   walk w;
   if (!walk_start(&w, a)) return BR_GONE;
   int64_t n = tensor_elements(a);
   gathered g = {0};
   if (n == 0 && (op == BR_PROD || op == BR_ALL)) g.d = 1, g.i = 1;
   if (n > GRAIN && w.outer == 0 && reduce_parts(op, f, &w, v, &g)) n = 0;
   while (n > 0) {
      f(&g, w.p, w.step, w.left, v);
      n -= w.left;
      walk_advance(&w, w.left);
   }
   *result = in_integers(op, a->dtype) ? (double)g.i : plain_number(g.d);
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

/* ---- along a dimension */

static void put(int dtype, char *p, int integers, const gathered *g, double d)
{
#define PUT_INTEGER(T) case T##_id: *(T##_s *)p = T##_store(integers ? (T##_c)g->i : T##_from(d)); break;
#define PUT_FLOAT(T) case T##_id: *(T##_s *)p = T##_store((T##_c)d); break;
   switch (dtype) { INTEGER_TYPES(PUT_INTEGER) FLOAT_TYPES(PUT_FLOAT) }
}

static double finished(int op, const gathered *g, int64_t n, double v)
{
   switch (op) {
   case BR_MEAN: return g->d / (double)n;
   case BR_NORM: return v == 2 ? sqrt(g->d) : v == 1 || v == 0 ? g->d : pow(g->d, 1 / v);
   case BR_VAR: return g->d / (double)(v == 1 ? n : n - 1);
   case BR_STD: return sqrt(g->d / (double)(v == 1 ? n : n - 1));
   default: return g->d;
   }
}

/* Sums of `count` float lines that lie side by side, row after row. */
#define TOGETHER 128
#define SUM_ROWS(T) \
   static void sum_rows_##T(double *s, const char *p, ptrdiff_t step, int64_t n, int64_t count) \
   { \
      for (int64_t k = 0; k < count; k++) s[k] = 0; \
      for (; n > 0; n--, p += step) \
         for (int64_t k = 0; k < count; k++) s[k] += T##_load(((const T##_s *)p)[k]); \
   }
FLOAT_TYPES(SUM_ROWS)

static int64_t reduce_together(int op, int dtype, const walk *from, walk *to, int to_dtype, ptrdiff_t step, int64_t n)
{
   static void (*const sums[BR_DTYPES])(double *, const char *, ptrdiff_t, int64_t, int64_t) = PER_FLOAT(sum_rows);
   if ((op != BR_SUM && op != BR_MEAN) || !sums[dtype] || from->step != (ptrdiff_t)br_element_size(dtype)) return 0;
   int64_t count = from->left < TOGETHER ? from->left : TOGETHER;
   double s[TOGETHER];
   sums[dtype](s, from->p, step, n, count);
   for (int64_t k = 0; k < count; k++) {
      put(to_dtype, to->p, 0, NULL, op == BR_MEAN ? s[k] / (double)n : s[k]);
      walk_advance(to, 1);
   }
   return count;
}

int br_reduce_dim(int op, br_tensor *r, const br_tensor *a, int dim, double v)
{
   if ((unsigned)op >= BR_REDUCTIONS) return BR_TYPE;
   gather f = gathers[op][a->dtype];
   if (!f || dim < 0 || dim >= a->nDimension) return BR_TYPE;
   walk to, from;
   int64_t lines = tensor_elements(r), n = a->size[dim];
   if (lines * n != tensor_elements(a)) return BR_COUNT;
   if (!walk_start(&to, r) || !walk_lines(&from, a, dim)) return BR_GONE;
   ptrdiff_t step = (ptrdiff_t)a->stride[dim] * (ptrdiff_t)br_element_size(a->dtype);
   int centred = op == BR_VAR || op == BR_STD, integers = in_integers(op, a->dtype);
   while (lines > 0) {
      int64_t done = reduce_together(op, a->dtype, &from, &to, r->dtype, step, n);
      if (done > 0) {
         walk_advance(&from, done);
         lines -= done;
         continue;
      }
      gathered g = {0};
      double w = v;
      if (centred) {
         gathers[BR_MEAN][a->dtype](&g, from.p, step, n, 0);
         w = g.d / (double)n;
         g.d = 0;
      }
      f(&g, from.p, step, n, w);
      put(r->dtype, to.p, integers, &g, finished(op, &g, n, v));
      walk_advance(&to, 1);
      walk_advance(&from, 1);
      lines--;
   }
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
   }
#define INTEGER_SCAN(T) SCAN(T, uint64_t)
#define FLOAT_SCAN(T) SCAN(T, double)
INTEGER_TYPES(INTEGER_SCAN)
FLOAT_TYPES(FLOAT_SCAN)

int br_scan(int op, br_tensor *r, const br_tensor *a, int dim)
{
   static void (*const scans[BR_DTYPES])(int, char *, ptrdiff_t, const char *, ptrdiff_t, int64_t) = PER_TYPE(scan);
   if (r->dtype != a->dtype || dim < 0 || dim >= a->nDimension || r->nDimension != a->nDimension) return BR_TYPE;
   for (int d = 0; d < a->nDimension; d++)
      if (r->size[d] != a->size[d]) return BR_COUNT;
   walk to, from;
   if (!walk_lines(&to, r, dim) || !walk_lines(&from, a, dim)) return BR_GONE;
   ptrdiff_t width = (ptrdiff_t)br_element_size(a->dtype), rs = (ptrdiff_t)r->stride[dim] * width;
   ptrdiff_t step = (ptrdiff_t)a->stride[dim] * width;
   int64_t n = a->size[dim];
   for (int64_t lines = tensor_elements(a) / n; lines > 0; lines--) {
      scans[a->dtype](op, to.p, rs, from.p, step, n);
      walk_advance(&to, 1);
      walk_advance(&from, 1);
   }
   return BR_OK;
}
