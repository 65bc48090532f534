/* Copying between any two element types, shapes and strides. */
#include "loops/loops.h"
#include "loops/parallel.h"
#include "tensors/element.h"
#include "tensors/walk.h"

typedef void (*converter)(char *r, ptrdiff_t rs, const char *a, ptrdiff_t as, int64_t n);

#define CONVERTER(S, D, EXPR) \
   static WIDE void S##_to_##D(char *r, ptrdiff_t rs, const char *a, ptrdiff_t as, int64_t n) \
   { \
      if (rs == sizeof(D##_s) && as == sizeof(S##_s)) { \
         for (int64_t i = 0; i < n; i++) { \
            const S##_c x = S##_load(((const S##_s *)a)[i]); \
            ((D##_s *)r)[i] = D##_store(EXPR); \
         } \
         return; \
      } \
      for (; n > 0; n--, r += rs, a += as) { \
         const S##_c x = S##_load(*(const S##_s *)a); \
         *(D##_s *)r = D##_store(EXPR); \
      } \
   }
#define FROM_INTEGER(S, D) CONVERTER(S, D, (D##_c)x)
#define FROM_FLOAT(S, D) CONVERTER(S, D, D##_from((double)x))
#define TO_ALL(S, FROM) \
   FROM(S, u8) FROM(S, i8) FROM(S, i16) FROM(S, i32) FROM(S, i64) FROM(S, f16) FROM(S, f32) FROM(S, f64)
#define ALL_FROM_INTEGER(S) TO_ALL(S, FROM_INTEGER)
#define ALL_FROM_FLOAT(S) TO_ALL(S, FROM_FLOAT)
INTEGER_TYPES(ALL_FROM_INTEGER)
FLOAT_TYPES(ALL_FROM_FLOAT)

#define ROW(S) PER_TYPE(S##_to),
static const converter converters[BR_TYPES][BR_TYPES] = {ALL_TYPES(ROW)};

#define GRAIN 32768 /* elements below which a second thread costs more than it saves */
#define PIECE 16384 /* elements copied at once if nothing overlaps: with many more, memmove bypasses the caches */

typedef struct job {
   const walk *to, *from;
   converter convert;
   ptrdiff_t width; /* bytes of an element if both types are the same, else 0 */
} job;

static void copy_runs(const job *j, walk *to, walk *from, int64_t n, int64_t most)
{
   while (n > 0) {
      int64_t count = walk_shortest(to, from);
      if (count > n) count = n;
      if (count > most) count = most;
      if (to->step == j->width && from->step == j->width) memmove(to->p, from->p, (size_t)(count * j->width));
      else j->convert(to->p, to->step, from->p, from->step, count);
      walk_advance(to, count);
      walk_advance(from, count);
      n -= count;
   }
}

static void range(int64_t begin, int64_t end, void *context)
{
   const job *j = context;
   walk to, from;
   walk_from(&to, j->to, begin);
   walk_from(&from, j->from, begin);
   copy_runs(j, &to, &from, end - begin, PIECE);
}

/* The addresses of t's first byte, and of the one after its last. */
static void extent(const br_tensor *t, const char **low, const char **high)
{
   ptrdiff_t width = (ptrdiff_t)br_element_size(t->dtype);
   *low = *high = tensor_data(t);
   for (int d = 0; d < t->nDimension; d++) {
      ptrdiff_t reach = (ptrdiff_t)((t->size[d] - 1) * t->stride[d]) * width;
      *(reach < 0 ? low : high) += reach;
   }
   *high += width;
}

static int overlap(const br_tensor *a, const br_tensor *b)
{
   const char *low, *high, *other, *end;
   extent(a, &low, &high);
   extent(b, &other, &end);
   return low < end && other < high;
}

int br_copy(br_tensor *r, const br_tensor *a)
{
   walk to, from;
   arranged room[2];
   int64_t n = tensor_elements(r);
   if (tensor_elements(a) != n) return BR_COUNT;
   if (!walk_start(&to, r) || !walk_start(&from, a)) return BR_GONE;
   int shared = n > GRAIN && !overlap(r, a); /* with an overlap the order of copying matters */
   if (shared && (to.outer || from.outer)) {
      const br_tensor *tensors[] = {r, a};
      if (walk_arrange(tensors, room, 2)) {
         walk_start(&to, tensors[0]);
         walk_start(&from, tensors[1]);
      }
   }
   ptrdiff_t width = a->dtype == r->dtype ? (ptrdiff_t)br_element_size(r->dtype) : 0;
   job j = {&to, &from, converters[a->dtype][r->dtype], width};
   if (shared) br_parallel(n, GRAIN, range, &j);
   else copy_runs(&j, &to, &from, n, n);
   return BR_OK;
}

#define SAME(T) \
   static WIDE int same_##T(const char *p, ptrdiff_t ps, const char *q, ptrdiff_t qs, int64_t n) \
   { \
      int different = 0; \
      if (ps == sizeof(T##_s) && qs == sizeof(T##_s)) { \
         for (int64_t i = 0; i < n; i++) \
            different |= T##_load(((const T##_s *)p)[i]) != T##_load(((const T##_s *)q)[i]); \
         return !different; \
      } \
      for (; n > 0 && !different; n--, p += ps, q += qs) \
         different = T##_load(*(const T##_s *)p) != T##_load(*(const T##_s *)q); \
      return !different; \
   }
ALL_TYPES(SAME)

int br_equal(const br_tensor *a, const br_tensor *b, int *equal)
{
   static int (*const same[BR_TYPES])(const char *, ptrdiff_t, const char *, ptrdiff_t, int64_t) = PER_TYPE(same);
   enum { LOOK = 4096 }; /* elements compared before a difference ends the loop */
   if (a->dtype != b->dtype) return BR_TYPE;
   *equal = 0;
   if (a->nDimension != b->nDimension) return BR_OK;
   for (int d = 0; d < a->nDimension; d++)
      if (a->size[d] != b->size[d]) return BR_OK;
   walk x, y;
   if (!walk_start(&x, a) || !walk_start(&y, b)) return BR_GONE;
   for (int64_t n = tensor_elements(a); n > 0;) {
      int64_t count = walk_shortest(&x, &y);
      if (count > LOOK) count = LOOK;
      if (!same[a->dtype](x.p, x.step, y.p, y.step, count)) return BR_OK;
      walk_advance(&x, count);
      walk_advance(&y, count);
      n -= count;
   }
   *equal = 1;
   return BR_OK;
}
