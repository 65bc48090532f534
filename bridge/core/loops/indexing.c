#include "loops/indexing.h"

#include "tensors/element.h"
#include "tensors/walk.h"

static void move(char *to, const char *from, size_t width)
{
   switch (width) {
   case 1: *to = *from; break;
   case 2: memcpy(to, from, 2); break;
   case 4: memcpy(to, from, 4); break;
   default: memcpy(to, from, 8);
   }
}

/* ---- whole slices */

/* t[i] along `dim`; `dims` holds its sizes and strides. A slice of a vector has one element. */
static br_tensor slice(const br_tensor *t, int dim, int64_t i, int64_t *dims)
{
   br_tensor s = *t;
   int n = 0;
   s.size = dims;
   s.stride = dims + WALK_DIMS;
   s.handle = NULL;
   for (int d = 0; d < t->nDimension; d++) {
      if (d == dim) continue;
      s.size[n] = t->size[d];
      s.stride[n++] = t->stride[d];
   }
   if (n == 0) s.size[0] = s.stride[0] = 1, n = 1;
   s.nDimension = n;
   s.storageOffset += (ptrdiff_t)(i * t->stride[dim]);
   return s;
}

static int indices_fit(const br_tensor *index, int64_t size)
{
   walk w;
   if (!walk_start(&w, index)) return BR_GONE;
   for (int64_t n = tensor_elements(index); n > 0; n--) {
      int64_t i = *(const int64_t *)w.p;
      if (i < 1 || i > size) return BR_INDEX;
      walk_advance(&w, 1);
   }
   return BR_OK;
}

int br_index(int op, br_tensor *r, const br_tensor *a, int dim, const br_tensor *index, double v)
{
   const br_tensor *chosen = op == BR_INDEX_SELECT ? a : r, *other = op == BR_INDEX_SELECT ? r : a;
   if (index->dtype != BR_LONG || (a && a->dtype != r->dtype)) return BR_TYPE;
   if (dim < 0 || dim >= chosen->nDimension || chosen->nDimension > WALK_DIMS) return BR_TYPE;
   int64_t n = tensor_elements(index);
   if (other && (other->nDimension > WALK_DIMS || dim >= other->nDimension || other->size[dim] != n)) return BR_COUNT;
   if (other && n > 0 && tensor_elements(other) / n != tensor_elements(chosen) / chosen->size[dim]) return BR_COUNT;
   if (!br_tensor_covered(chosen) || (other && !br_tensor_covered(other))) return BR_GONE;
   int code = indices_fit(index, chosen->size[dim]);
   walk at;
   if (code != BR_OK || !walk_start(&at, index)) return code ? code : BR_GONE;
   int64_t dims[2 * WALK_DIMS], dims2[2 * WALK_DIMS];
   int plain = chosen->nDimension == 1 && op <= BR_INDEX_COPY;
   ptrdiff_t width = (ptrdiff_t)br_element_size(r->dtype);
   for (int64_t i = 0; i < n && code == BR_OK; i++, walk_advance(&at, 1)) {
      int64_t k = *(const int64_t *)at.p - 1;
      if (plain) {
         char *x = tensor_data(chosen) + k * (ptrdiff_t)chosen->stride[0] * width;
         char *y = tensor_data(other) + i * (ptrdiff_t)other->stride[dim] * width;
         if (op == BR_INDEX_SELECT) move(y, x, (size_t)width);
         else move(x, y, (size_t)width);
         continue;
      }
      br_tensor x = slice(chosen, dim, k, dims);
      if (op == BR_INDEX_FILL) {
         code = br_fill(&x, v);
         continue;
      }
      br_tensor y = slice(other, dim, i, dims2);
      code = op == BR_INDEX_SELECT ? br_copy(&y, &x) : op == BR_INDEX_COPY ? br_copy(&x, &y)
                                                                           : br_pair(BR_ADD, &x, &x, &y, 1);
   }
   return code;
}

/* ---- single elements along a dimension */

/* Start a walk over the lines of `through` along `dim` that belong to the lines of `index`; where `through` is larger
   than `index`, its rest is left out. 0: no memory covers it, or it has too many dimensions. */
static int walk_beside(walk *w, const br_tensor *through, const br_tensor *index, int dim)
{
   int64_t size[WALK_DIMS];
   if (through->nDimension > WALK_DIMS || !br_tensor_covered(through)) return 0;
   for (int d = 0; d < through->nDimension; d++) size[d] = d == dim ? 1 : index->size[d];
   br_tensor part = *through;
   part.size = size;
   return walk_start(w, &part);
}

/* For every position i of `index`: moved[i] = through[index[i]] if `gathers`, else through[index[i]] = moved[i], or the
   element at `value` if `moved` is NULL. */
static int along(const br_tensor *through, const br_tensor *moved, const char *value, int dim, const br_tensor *index,
                 int gathers)
{
   if (index->dtype != BR_LONG || (moved && moved->dtype != through->dtype)) return BR_TYPE;
   if (dim < 0 || dim >= through->nDimension || index->nDimension != through->nDimension) return BR_COUNT;
   if (moved && moved->nDimension != index->nDimension) return BR_COUNT;
   for (int d = 0; d < index->nDimension; d++) {
      if (d != dim && index->size[d] > through->size[d]) return BR_COUNT;
      if (moved && moved->size[d] < index->size[d]) return BR_COUNT;
   }
   int code = indices_fit(index, through->size[dim]);
   if (code != BR_OK) return code;
   walk places, lines, others = {0};
   if (!walk_lines(&places, index, dim) || !walk_beside(&lines, through, index, dim)) return BR_GONE;
   if (moved && !walk_beside(&others, moved, index, dim)) return BR_GONE;
   size_t width = br_element_size(through->dtype);
   ptrdiff_t step = (ptrdiff_t)(through->stride[dim] * (int64_t)width), places_step = (ptrdiff_t)index->stride[dim] * 8;
   ptrdiff_t moved_step = moved ? (ptrdiff_t)(moved->stride[dim] * (int64_t)width) : 0;
   int64_t n = index->size[dim];
   for (int64_t left = tensor_elements(index) / n; left > 0; left--) {
      for (int64_t i = 0; i < n; i++) {
         char *x = lines.p + (*(const int64_t *)(places.p + i * places_step) - 1) * step;
         if (gathers) move(others.p + i * moved_step, x, width);
         else move(x, moved ? others.p + i * moved_step : value, width);
      }
      walk_advance(&places, 1);
      walk_advance(&lines, 1);
      if (moved) walk_advance(&others, 1);
   }
   return BR_OK;
}

int br_gather(br_tensor *r, const br_tensor *a, int dim, const br_tensor *index)
{
   return along(a, r, NULL, dim, index, 1);
}

int br_scatter(br_tensor *r, const br_tensor *a, int dim, const br_tensor *index, double v)
{
   char value[8];
   element_encode(r->dtype, v, value);
   return along(r, a, value, dim, index, 0);
}

/* ---- masks */

int br_mask_count(const br_tensor *mask, int64_t *count)
{
   walk w;
   if (mask->dtype != BR_BYTE) return BR_TYPE;
   if (!walk_start(&w, mask)) return BR_GONE;
   *count = 0;
   for (int64_t n = tensor_elements(mask); n > 0;) {
      for (int64_t i = 0; i < w.left; i++) {
         uint8_t m = *(const uint8_t *)(w.p + i * w.step);
         if (m > 1) return BR_VALUE;
         *count += m;
      }
      n -= w.left;
      walk_advance(&w, w.left);
   }
   return BR_OK;
}

/* Where the mask is 1: elements of `all` are copied to `some` (`selects`) or from there, one after the other, or become
   the element at `value` if `some` is NULL. */
static int masked(const br_tensor *all, const br_tensor *mask, const br_tensor *some, const char *value, int selects)
{
   if (some && some->dtype != all->dtype) return BR_TYPE;
   int64_t n = tensor_elements(all), count;
   if (tensor_elements(mask) != n) return BR_COUNT;
   int code = br_mask_count(mask, &count);
   if (code != BR_OK) return code;
   if (some && tensor_elements(some) < count) return BR_INDEX;
   walk w, m, s = {0};
   if (!walk_start(&w, all) || !walk_start(&m, mask) || (some && !walk_start(&s, some))) return BR_GONE;
   size_t width = br_element_size(all->dtype);
   for (; n > 0; n--) {
      if (*m.p) {
         if (!some) move(w.p, value, width);
         else {
            if (selects) move(s.p, w.p, width);
            else move(w.p, s.p, width);
            walk_advance(&s, 1);
         }
      }
      walk_advance(&w, 1);
      walk_advance(&m, 1);
   }
   return BR_OK;
}

int br_masked_fill(br_tensor *r, const br_tensor *mask, double v)
{
   char value[8];
   element_encode(r->dtype, v, value);
   return masked(r, mask, NULL, value, 0);
}

int br_masked_copy(br_tensor *r, const br_tensor *mask, const br_tensor *a) { return masked(r, mask, a, NULL, 0); }

int br_masked_select(br_tensor *r, const br_tensor *a, const br_tensor *mask) { return masked(a, mask, r, NULL, 1); }

int br_nonzero(br_tensor *r, const br_tensor *a)
{
   int64_t at[WALK_DIMS] = {0}, found = 0, room = r->nDimension ? r->size[0] : 0;
   walk w;
   if (r->dtype != BR_LONG) return BR_TYPE;
   if (a->nDimension > WALK_DIMS || !walk_start(&w, a) || !br_tensor_covered(r)) return BR_GONE;
   int64_t *out = (int64_t *)tensor_data(r);
   for (int64_t n = tensor_elements(a); n > 0; n--) {
      int is = 0;
#define NONZERO(T) case T##_id: is = T##_load(*(const T##_s *)w.p) != 0; break;
      switch (a->dtype) { ALL_TYPES(NONZERO) }
      if (is) {
         if (found++ == room) return BR_COUNT;
         for (int d = 0; d < a->nDimension; d++) *out++ = at[d] + 1;
      }
      for (int d = a->nDimension - 1; d >= 0 && ++at[d] == a->size[d]; d--) at[d] = 0;
      walk_advance(&w, 1);
   }
   return BR_OK;
}

int br_index_from_zero(br_tensor *r, const br_tensor *index, int64_t limit)
{
   int64_t n = 1, m = 1;
   if (r->dtype != BR_LONG || index->dtype != BR_LONG) return BR_TYPE;
   if (!br_tensor_covered(r) || !br_tensor_covered(index)) return BR_GONE;
   for (int d = 0; d < index->nDimension; d++) n *= index->size[d];
   for (int d = 0; d < r->nDimension; d++) m *= r->size[d];
   if (n != m || !r->storage || !index->storage) return BR_COUNT;
   int64_t *to = (int64_t *)*r->storage->live + r->storageOffset, outside = 0;
   const int64_t *from = (const int64_t *)*index->storage->live + index->storageOffset;
   for (int64_t i = 0; i < n; i++) {
      to[i] = from[i] - 1;
      outside |= (uint64_t)to[i] >= (uint64_t)limit;
   }
   return outside ? BR_INDEX : BR_OK;
}
