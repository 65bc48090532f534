#include "order.h"

#include "element.h"
#include "walk.h"

#include <stdlib.h>

#define RUN 16 /* elements that insertion sorts faster than merging */

/* One line of a tensor: where it is read, and where its results go. */
typedef struct line {
   const char *from;
   char *values;
   char *indices;
   ptrdiff_t step, values_step, indices_step;
   int64_t n, count, k;
} line;

#define ITEMS(T) \
   typedef struct item_##T { T##_s value; int64_t at; } item_##T; \
   static int after_##T(const item_##T *a, const item_##T *b, int descending) \
   { \
      T##_c x = T##_load(a->value), y = T##_load(b->value); \
      return descending ? x < y : x > y; \
   } \
   static void insertion_##T(item_##T *x, int64_t n, int descending) \
   { \
      for (int64_t i = 1; i < n; i++) { \
         item_##T moving = x[i]; \
         int64_t j = i; \
         for (; j > 0 && after_##T(&x[j - 1], &moving, descending); j--) x[j] = x[j - 1]; \
         x[j] = moving; \
      } \
   } \
   /* A stable merge sort; `x` and `spare` change roles, the sorted one is returned. */ \
   static item_##T *sort_##T(item_##T *x, item_##T *spare, int64_t n, int descending) \
   { \
      for (int64_t i = 0; i < n; i += RUN) insertion_##T(x + i, n - i < RUN ? n - i : RUN, descending); \
      for (int64_t width = RUN; width < n; width *= 2) { \
         for (int64_t low = 0; low < n; low += 2 * width) { \
            int64_t middle = low + width < n ? low + width : n, high = middle + width < n ? middle + width : n; \
            int64_t a = low, b = middle, to = low; \
            while (a < middle && b < high) spare[to++] = after_##T(&x[a], &x[b], descending) ? x[b++] : x[a++]; \
            while (a < middle) spare[to++] = x[a++]; \
            while (b < high) spare[to++] = x[b++]; \
         } \
         item_##T *t = x; \
         x = spare; \
         spare = t; \
      } \
      return x; \
   } \
   static void extreme_##T(const line *l, int greatest) \
   { \
      T##_s best = *(const T##_s *)l->from; \
      int64_t at = 0; \
      for (int64_t i = 1; i < l->n && T##_load(best) == T##_load(best); i++) { \
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
      for (int64_t i = 0; i < l->n; i++) { \
         x[i].value = *(const T##_s *)(l->from + i * l->step); \
         x[i].at = i + 1; \
      } \
      x = sort_##T(x, x + l->n, l->n, op == BR_DESCENDING); \
      if (op == BR_KTH) x += l->k - 1; \
      if (op == BR_MODE) x += mode_##T(x, l->n); \
      for (int64_t i = 0; i < l->count; i++) { \
         *(T##_s *)(l->values + i * l->values_step) = x[i].value; \
         *(int64_t *)(l->indices + i * l->indices_step) = x[i].at; \
      } \
   }
ALL_TYPES(ITEMS)

int br_order(int op, br_tensor *values, br_tensor *indices, const br_tensor *a, int dim, int64_t k)
{
   static void (*const orders[BR_DTYPES])(int, const line *, void *) = PER_TYPE(order);
   if (values->dtype != a->dtype || indices->dtype != BR_LONG || dim < 0 || dim >= a->nDimension) return BR_TYPE;
   if (values->nDimension != a->nDimension || indices->nDimension != a->nDimension) return BR_COUNT;
   line l = {.n = a->size[dim], .count = values->size[dim], .k = k};
   if (indices->size[dim] != l.count || l.count > l.n) return BR_COUNT;
   if (op == BR_KTH && (k < 1 || k > l.n)) return BR_VALUE;
   walk from, to, places;
   if (!walk_lines(&from, a, dim) || !walk_lines(&to, values, dim) || !walk_lines(&places, indices, dim)) return BR_GONE;
   int64_t lines = tensor_elements(a) / l.n;
   if (tensor_elements(values) != lines * l.count || tensor_elements(indices) != lines * l.count) return BR_COUNT;
   void *room = op == BR_GREATEST || op == BR_LEAST ? NULL : malloc((size_t)l.n * 2 * sizeof(item_f64));
   if (!room && op != BR_GREATEST && op != BR_LEAST) return BR_MEMORY;
   ptrdiff_t width = (ptrdiff_t)br_element_size(a->dtype);
   l.step = (ptrdiff_t)a->stride[dim] * width;
   l.values_step = (ptrdiff_t)values->stride[dim] * width;
   l.indices_step = (ptrdiff_t)indices->stride[dim] * 8;
   for (; lines > 0; lines--) {
      l.from = from.p;
      l.values = to.p;
      l.indices = places.p;
      orders[a->dtype](op, &l, room);
      walk_advance(&from, 1);
      walk_advance(&to, 1);
      walk_advance(&places, 1);
   }
   free(room);
   return BR_OK;
}
