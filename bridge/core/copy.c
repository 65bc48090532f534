/* Copying between any two element types, shapes and strides. */
#include "element.h"
#include "loops.h"
#include "walk.h"

typedef void (*converter)(char *r, ptrdiff_t rs, const char *a, ptrdiff_t as, int64_t n);

#define CONVERTER(S, D, EXPR) \
   static void S##_to_##D(char *r, ptrdiff_t rs, const char *a, ptrdiff_t as, int64_t n) \
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
static const converter converters[BR_DTYPES][BR_DTYPES] = {ALL_TYPES(ROW)};

int br_copy(br_tensor *r, const br_tensor *a)
{
   walk to, from;
   int64_t n = tensor_elements(r);
   if (tensor_elements(a) != n) return BR_COUNT;
   if (!walk_start(&to, r) || !walk_start(&from, a)) return BR_GONE;
   converter convert = converters[a->dtype][r->dtype];
   ptrdiff_t width = a->dtype == r->dtype ? (ptrdiff_t)br_element_size(r->dtype) : 0;
   while (n > 0) {
      int64_t count = walk_shortest(&to, &from);
      if (to.step == width && from.step == width) memmove(to.p, from.p, (size_t)(count * width));
      else convert(to.p, to.step, from.p, from.step, count);
      walk_advance(&to, count);
      walk_advance(&from, count);
      n -= count;
   }
   return BR_OK;
}

int br_equal(const br_tensor *a, const br_tensor *b, int *equal)
{
   if (a->dtype != b->dtype) return BR_TYPE;
   *equal = 0;
   if (a->nDimension != b->nDimension) return BR_OK;
   for (int d = 0; d < a->nDimension; d++)
      if (a->size[d] != b->size[d]) return BR_OK;
   walk x, y;
   if (!walk_start(&x, a) || !walk_start(&y, b)) return BR_GONE;
   for (int64_t n = tensor_elements(a); n > 0;) {
      int64_t count = walk_shortest(&x, &y);
      for (int64_t i = 0; i < count; i++) {
         const char *p = x.p + i * x.step, *q = y.p + i * y.step;
#define COMPARE(T) case T##_id: if (T##_load(*(const T##_s *)p) != T##_load(*(const T##_s *)q)) return BR_OK; break;
         switch (a->dtype) { ALL_TYPES(COMPARE) }
      }
      walk_advance(&x, count);
      walk_advance(&y, count);
      n -= count;
   }
   *equal = 1;
   return BR_OK;
}
