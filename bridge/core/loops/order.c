#include "loops/order.h"

#include "loops/gather.h"
#include "loops/parallel.h"
#include "tensors/element.h"
#include "tensors/walk.h"

#include <stdlib.h>

#define RUN 16        /* elements up to which insertion sort is faster than merging */
#define RADIX 256     /* elements from which radix sort is faster than merging */
#define CHOOSE 128    /* elements from which the wanted ones are selected before only these are sorted */
#define GRAIN 4096    /* elements below which a second thread costs more than it saves */
#define SEARCHED 64   /* contiguous elements from which the extreme value is found first, then its position */
#define AT_ONCE 32    /* elements compared at once while a position is searched */
#define TOGETHER 256  /* adjacent lines at most whose extremes are found together, row by row */

/* One line of a tensor: where it is read, and where its results are written. */
typedef struct line {
   const char *from;
   char *values;
   char *indices;
   ptrdiff_t step, values_step, indices_step;
   int64_t n, count, k;
} line;

/* Sorting is stable: equal elements keep their order. A line with nan, which cannot be ordered, is sorted by merging,
 * with nan compared like any element, as in Torch7. A line without nan can be radix sorted by its keys: unsigned
 * integers whose order is that of the values. */
#define INTEGER_KEY(T) \
   static inline T##_u key_##T(T##_s x) \
   { \
      const T##_u top = (T##_u)((T##_u)1 << (8 * sizeof(T##_u) - 1)); \
      return (T##_s)-1 < 0 ? (T##_u)((T##_u)x ^ top) : (T##_u)x; \
   }
#define FLOAT_KEY(T) \
   static inline T##_u key_##T(T##_s x) \
   { \
      const T##_u top = (T##_u)((T##_u)1 << (8 * sizeof(T##_u) - 1)); \
      T##_u bits; \
      memcpy(&bits, &x, sizeof bits); \
      if (bits == top) bits = 0; /* -0 equals 0 */ \
      return bits & top ? (T##_u)~bits : bits | top; \
   }
INTEGER_TYPES(INTEGER_KEY)
FLOAT_TYPES(FLOAT_KEY)

#define DIGIT 8 /* bits of a key that one pass of the radix sort looks at */
#define DIGITS(T) (int)sizeof(T##_u)

/* The extreme value of contiguous elements, without its position. */
static gathered extreme_of(const line *l, int dtype, int greatest)
{
   const double unused = 0;
   int op = greatest ? BR_MAX : BR_MIN;
   gathered g = br_gather_start(op, dtype);
   br_gather_lines(op, dtype, &g, l->from, 0, l->step, l->n, 1, &unused);
   return g;
}

#define ITEMS(T) \
   typedef struct item_##T { T##_s value; int64_t at; } item_##T; \
   static inline int after_##T(const item_##T *a, const item_##T *b, int descending) \
   { \
      T##_c x = T##_load(a->value), y = T##_load(b->value); \
      return descending ? x < y : x > y; \
   } \
   static void insertion_sort_##T(item_##T *x, int64_t n, int descending) \
   { \
      for (int64_t i = 1; i < n; i++) { \
         item_##T moving = x[i]; \
         int64_t j = i; \
         for (; j > 0 && after_##T(&x[j - 1], &moving, descending); j--) x[j] = x[j - 1]; \
         x[j] = moving; \
      } \
   } \
   /* Sorts back and forth between `x` and `spare`; returns the one that holds the result. */ \
   static item_##T *merge_sort_##T(item_##T *x, item_##T *spare, int64_t n, int descending) \
   { \
      for (int64_t i = 0; i < n; i += RUN) insertion_sort_##T(x + i, n - i < RUN ? n - i : RUN, descending); \
      for (int64_t width = RUN; width < n; width *= 2) { \
         for (int64_t low = 0; low < n; low += 2 * width) { \
            int64_t middle = low + width < n ? low + width : n, high = middle + width < n ? middle + width : n; \
            const item_##T *a = x + low, *b = x + middle, *a_end = b, *b_end = x + high; \
            item_##T *to = spare + low; \
            while (a < a_end && b < b_end) { /* without a branch that half of the elements would take */ \
               int second = after_##T(a, b, descending); \
               *to++ = *(second ? b : a); \
               b += second; \
               a += !second; \
            } \
            while (a < a_end) *to++ = *a++; \
            while (b < b_end) *to++ = *b++; \
         } \
         item_##T *t = x; \
         x = spare; \
         spare = t; \
      } \
      return x; \
   } \
   static item_##T *radix_sort_##T(item_##T *x, item_##T *spare, int64_t n, int descending) \
   { \
      int64_t starts[DIGITS(T)][1 << DIGIT] = {{0}}; \
      const T##_u flip = descending ? (T##_u)-1 : 0; \
      for (int64_t i = 0; i < n; i++) { \
         T##_u key = key_##T(x[i].value) ^ flip; \
         for (int d = 0; d < DIGITS(T); d++) starts[d][(uint8_t)(key >> (DIGIT * d))]++; \
      } \
      const T##_u first = key_##T(x[0].value) ^ flip; \
      for (int d = 0; d < DIGITS(T); d++) { \
         int64_t *start = starts[d], before = 0; \
         if (start[(uint8_t)(first >> (DIGIT * d))] == n) continue; /* all have the same digit */ \
         for (int k = 0; k < 1 << DIGIT; k++) { \
            int64_t count = start[k]; \
            start[k] = before; \
            before += count; \
         } \
         for (int64_t i = 0; i < n; i++) { \
            T##_u key = key_##T(x[i].value) ^ flip; \
            spare[start[(uint8_t)(key >> (DIGIT * d))]++] = x[i]; \
         } \
         item_##T *t = x; \
         x = spare; \
         spare = t; \
      } \
      return x; \
   } \
   /* The k-th of n elements in sorted order. `equal`: how many of the first k, itself included, have its value. Digit \
      by digit, only the elements with the same digit as the k-th are kept, in `spare`. */ \
   static item_##T select_##T(const item_##T *x, item_##T *spare, int64_t n, int64_t k, int descending, \
                              int64_t *equal) \
   { \
      const T##_u flip = descending ? (T##_u)-1 : 0; \
      for (int d = DIGITS(T) - 1; d >= 0 && n > 1; d--) { \
         int64_t counts[1 << DIGIT] = {0}, kept = 0; \
         for (int64_t i = 0; i < n; i++) counts[(uint8_t)((key_##T(x[i].value) ^ flip) >> (DIGIT * d))]++; \
         int digit = 0; \
         while (counts[digit] < k) k -= counts[digit++]; \
         if (counts[digit] == n) continue; \
         for (int64_t i = 0; i < n; i++) \
            if ((uint8_t)((key_##T(x[i].value) ^ flip) >> (DIGIT * d)) == digit) spare[kept++] = x[i]; \
         x = spare; \
         n = kept; \
      } \
      *equal = k; \
      return x[k - 1]; \
   } \
   /* Move the k elements that sorting would put first to the front, in the order they had. */ \
   static void choose_##T(item_##T *x, int64_t n, int64_t k, int descending) \
   { \
      const T##_u flip = descending ? (T##_u)-1 : 0; \
      int64_t equal, to = 0; \
      const T##_u last = key_##T(select_##T(x, x + n, n, k, descending, &equal).value) ^ flip; \
      for (int64_t i = 0; i < n; i++) { \
         const T##_u key = key_##T(x[i].value) ^ flip; \
         if (key < last || (key == last && equal-- > 0)) x[to++] = x[i]; \
      } \
   } \
   /* The position of the first of n elements that equals `wanted` or is nan; there must be one. */ \
   static WIDE int64_t first_##T(const T##_s *x, int64_t n, T##_c wanted) \
   { \
      int64_t i = 0; \
      for (int found = 0; i + AT_ONCE <= n; i += AT_ONCE) { \
         for (int k = 0; k < AT_ONCE; k++) \
            found |= T##_load(x[i + k]) == wanted || T##_load(x[i + k]) != T##_load(x[i + k]); \
         if (found) break; \
      } \
      while (i < n - 1 && T##_load(x[i]) != wanted && T##_load(x[i]) == T##_load(x[i])) i++; \
      return i; \
   } \
   static void extreme_##T(const line *l, int greatest) \
   { \
      T##_s best = *(const T##_s *)l->from; \
      int64_t at = 0, i = 1; \
      if (l->step == sizeof best && l->n >= SEARCHED) { \
         const gathered g = extreme_of(l, T##_id, greatest); \
         at = first_##T((const T##_s *)l->from, l->n, br_gathers_integers(BR_MAX, T##_id) ? (T##_c)g.i : (T##_c)g.d); \
         best = ((const T##_s *)l->from)[at]; \
         i = l->n; \
      } \
      for (; i < l->n && T##_load(best) == T##_load(best); i++) { \
         T##_s x = *(const T##_s *)(l->from + i * l->step); \
         T##_c a = T##_load(x), b = T##_load(best); \
         if (greatest ? !(a <= b) : !(a >= b)) best = x, at = i; \
      } \
      *(T##_s *)l->values = best; \
      *(int64_t *)l->indices = at + 1; \
   } \
   static int64_t mode_##T(const item_##T *x, int64_t n) \
   { \
      int64_t most = 0, best = 0; \
      for (int64_t i = 0, first = 0; i < n; i++) { \
         if (T##_load(x[i].value) != T##_load(x[first].value)) first = i; \
         if (i - first + 1 > most) most = i - first + 1, best = i; \
      } \
      return best; \
   } \
   static void order_##T(int op, const line *l, void *room) \
   { \
      if (op == BR_GREATEST || op == BR_LEAST) { \
         extreme_##T(l, op == BR_GREATEST); \
         return; \
      } \
      item_##T *x = room; \
      int descending = op == BR_DESCENDING, ordered = 1; \
      int64_t n = l->n, equal; \
      for (int64_t i = 0; i < n; i++) { \
         x[i].value = *(const T##_s *)(l->from + i * l->step); \
         x[i].at = i + 1; \
         ordered &= T##_load(x[i].value) == T##_load(x[i].value); \
      } \
      if (ordered && n >= CHOOSE && op == BR_KTH) x[0] = select_##T(x, x + n, n, l->k, 0, &equal); \
      else { \
         if (ordered && n >= CHOOSE && op != BR_MODE && op != BR_KTH && l->count < n) { \
            choose_##T(x, n, l->count, descending); \
            n = l->count; \
         } \
         x = (ordered && n >= RADIX ? radix_sort_##T : merge_sort_##T)(x, x + n, n, descending); \
         if (op == BR_KTH) x += l->k - 1; \
         if (op == BR_MODE) x += mode_##T(x, n); \
      } \
      for (int64_t i = 0; i < l->count; i++) { \
         *(T##_s *)(l->values + i * l->values_step) = x[i].value; \
         *(int64_t *)(l->indices + i * l->indices_step) = x[i].at; \
      } \
   } \
   /* Extremes of `count` lines whose first elements are contiguous, from l->from on. */ \
   static WIDE void extremes_##T(const line *l, int greatest, int64_t count, T##_s *best, int64_t *at) \
   { \
      for (int64_t k = 0; k < count; k++) best[k] = ((const T##_s *)l->from)[k], at[k] = 1; \
      for (int64_t i = 1; i < l->n; i++) { \
         const T##_s *x = (const T##_s *)(l->from + i * l->step); \
         if (greatest) \
            _Pragma("GCC ivdep") for (int64_t k = 0; k < count; k++) { \
               const T##_c a = T##_load(x[k]), b = T##_load(best[k]); \
               const int better = !(a <= b) & (b == b); \
               best[k] = better ? x[k] : best[k]; \
               at[k] = better ? i + 1 : at[k]; \
            } \
         else \
            _Pragma("GCC ivdep") for (int64_t k = 0; k < count; k++) { \
               const T##_c a = T##_load(x[k]), b = T##_load(best[k]); \
               const int better = !(a >= b) & (b == b); \
               best[k] = better ? x[k] : best[k]; \
               at[k] = better ? i + 1 : at[k]; \
            } \
      } \
   } \
   static void rows_##T(const line *l, int greatest, int64_t count, walk *to, walk *places) \
   { \
      T##_s best[TOGETHER]; \
      int64_t at[TOGETHER]; \
      extremes_##T(l, greatest, count, best, at); \
      for (int64_t k = 0; k < count; k++) { \
         *(T##_s *)to->p = best[k]; \
         *(int64_t *)places->p = at[k]; \
         walk_advance(to, 1); \
         walk_advance(places, 1); \
      } \
   }
ALL_TYPES(ITEMS)

typedef struct job {
   int op, dtype;
   const walk *from, *to, *places;
   line line;
   int failed; /* atomic */
} job;

static void order_lines(int64_t begin, int64_t end, void *context)
{
   static void (*const orders[BR_TYPES])(int, const line *, void *) = PER_TYPE(order);
   static void (*const rows[BR_TYPES])(const line *, int, int64_t, walk *, walk *) = PER_TYPE(rows);
   job *j = context;
   walk from, to, places;
   line l = j->line;
   int extreme = j->op == BR_GREATEST || j->op == BR_LEAST;
   ptrdiff_t width = (ptrdiff_t)br_element_size(j->dtype);
   void *room = extreme ? NULL : malloc((size_t)l.n * 2 * sizeof(item_f64));
   if (!room && !extreme) {
      __atomic_store_n(&j->failed, 1, __ATOMIC_RELAXED);
      return;
   }
   walk_from(&from, j->from, begin);
   walk_from(&to, j->to, begin);
   walk_from(&places, j->places, begin);
   for (int64_t left = end - begin, count; left > 0; left -= count) {
      count = extreme && from.step == width && l.step != width ? from.left : 1;
      if (count > left) count = left;
      if (count > TOGETHER) count = TOGETHER;
      l.from = from.p;
      if (count > 1) rows[j->dtype](&l, j->op == BR_GREATEST, count, &to, &places);
      else {
         l.values = to.p;
         l.indices = places.p;
         orders[j->dtype](j->op, &l, room);
         walk_advance(&to, 1);
         walk_advance(&places, 1);
      }
      walk_advance(&from, count);
   }
   free(room);
}

int br_order(int op, br_tensor *values, br_tensor *indices, const br_tensor *a, int dim, int64_t k)
{
   if (values->dtype != a->dtype || indices->dtype != BR_LONG || dim < 0 || dim >= a->nDimension) return BR_TYPE;
   if (values->nDimension != a->nDimension || indices->nDimension != a->nDimension) return BR_COUNT;
   int64_t n = a->size[dim], count = values->size[dim];
   if (indices->size[dim] != count || count > n) return BR_COUNT;
   if (op == BR_KTH && (k < 1 || k > n)) return BR_VALUE;
   walk from, to, places;
   if (!walk_lines(&from, a, dim) || !walk_lines(&to, values, dim) || !walk_lines(&places, indices, dim))
      return BR_GONE;
   int64_t lines = tensor_elements(a) / n;
   if (tensor_elements(values) != lines * count || tensor_elements(indices) != lines * count) return BR_COUNT;
   ptrdiff_t width = (ptrdiff_t)br_element_size(a->dtype);
   job j = {.op = op, .dtype = a->dtype, .from = &from, .to = &to, .places = &places};
   j.line = (line){.step = (ptrdiff_t)a->stride[dim] * width, .values_step = (ptrdiff_t)values->stride[dim] * width,
                   .indices_step = (ptrdiff_t)indices->stride[dim] * 8, .n = n, .count = count, .k = k};
   br_parallel(lines, n < GRAIN ? GRAIN / n : 1, order_lines, &j);
   return j.failed ? BR_MEMORY : BR_OK;
}
