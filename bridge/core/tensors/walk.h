/* Walking over several tensors at once, element by element in each one's own row-major order.
 *
 * A walk yields runs: elements that are a constant number of bytes apart. Neighbouring dimensions are merged where
 * their strides allow it. Tensors of different shapes and strides can be walked together if they have equally many
 * elements. */
#ifndef BRIDGE_WALK_H
#define BRIDGE_WALK_H

#include <string.h>

#include "tensors/tensor.h"

#define WALK_DIMS 32

typedef struct walk {
   char *p;           /* the next element */
   ptrdiff_t step;    /* bytes to the one after it */
   int64_t left;      /* elements left in this run */
   int64_t run;       /* elements in every run */
   int outer;         /* dimensions around the run, the innermost first */
   int64_t size[WALK_DIMS], at[WALK_DIMS];
   ptrdiff_t stride[WALK_DIMS];
} walk;

static inline int64_t tensor_elements(const br_tensor *t)
{
   if (t->nDimension == 0) return 0;
   int64_t n = 1;
   for (int d = 0; d < t->nDimension; d++) n *= t->size[d];
   return n;
}

static inline char *tensor_data(const br_tensor *t)
{
   return t->storage ? (char *)*t->storage->live + t->storageOffset * (ptrdiff_t)br_element_size(t->dtype) : NULL;
}

/* Start a walk at t's first element. 0: no memory covers the tensor, or it has too many dimensions. */
static inline int walk_start(walk *w, const br_tensor *t)
{
   if (!br_tensor_covered(t)) return 0;
   ptrdiff_t width = (ptrdiff_t)br_element_size(t->dtype);
   int64_t run = 1, below = 1;
   ptrdiff_t step = width, outer_step = 0;
   int n = -1; /* -1: the run itself is still growing */
   for (int d = t->nDimension - 1; d >= 0; d--) {
      int64_t size = t->size[d];
      ptrdiff_t stride = (ptrdiff_t)t->stride[d] * width;
      if (size == 1) continue;
      if (n < 0 && run == 1) {
         run = size;
         step = stride;
      } else if (n < 0 && stride == step * run) {
         run *= size;
      } else if (n >= 1 && stride == outer_step * below) {
         w->size[n - 1] = below *= size;
      } else {
         if (n < 0) n = 0;
         if (n == WALK_DIMS) return 0;
         w->size[n] = below = size;
         w->at[n] = 0;
         w->stride[n] = outer_step = stride;
         n++;
      }
   }
   w->outer = n < 0 ? 0 : n;
   w->p = tensor_data(t);
   w->step = step;
   w->run = w->left = run;
   return 1;
}

/* Go n elements on; not more than w->left. */
static inline void walk_advance(walk *w, int64_t n)
{
   w->p += n * w->step;
   if (w->left -= n) return;
   w->left = w->run;
   w->p -= w->run * w->step;
   for (int d = 0; d < w->outer; d++) {
      w->p += w->stride[d];
      if (++w->at[d] < w->size[d]) return;
      w->p -= w->size[d] * w->stride[d];
      w->at[d] = 0;
   }
}

/* Make w a copy of the walk `start` that is n elements further on. */
static inline void walk_from(walk *w, const walk *start, int64_t n)
{
   size_t dims = (size_t)start->outer * sizeof *w->size;
   w->p = start->p;
   w->step = start->step;
   w->left = start->left;
   w->run = start->run;
   w->outer = start->outer;
   memcpy(w->size, start->size, dims);
   memcpy(w->at, start->at, dims);
   memcpy(w->stride, start->stride, dims);
   if (n == 0) return;
   int64_t here = w->run - w->left, runs = (here + n) / w->run;
   w->p -= here * w->step;
   here = (here + n) % w->run;
   for (int d = 0; d < w->outer && runs > 0; d++) {
      int64_t at = (w->at[d] + runs) % w->size[d];
      runs = (w->at[d] + runs) / w->size[d];
      w->p += (at - w->at[d]) * w->stride[d];
      w->at[d] = at;
   }
   w->p += here * w->step;
   w->left = w->run - here;
}

/* A tensor with its dimensions in another order, for work that may visit the elements in any order. */
typedef struct arranged {
   br_tensor t;
   int64_t size[WALK_DIMS], stride[WALK_DIMS];
} arranged;

/* Reorder the dimensions of `count` tensors of one shape so that a walk goes through the first one's memory in order: a
   transposed matrix becomes a plain one. 1: the pointers in `tensors` were replaced by ones into `room`. 0: nothing was
   changed, because the shapes differ or the first is in order already. */
static inline int walk_arrange(const br_tensor **tensors, arranged *room, int count)
{
   const br_tensor *first = tensors[0];
   int n = first->nDimension, order[WALK_DIMS], sorted = 1;
   if (n < 2 || n > WALK_DIMS) return 0;
   for (int d = 0; d < n; d++) {
      if (first->size[d] > 1 && first->stride[d] <= 0) return 0;
      int k = d;
      for (; k > 0 && first->stride[order[k - 1]] < first->stride[d]; k--) order[k] = order[k - 1];
      order[k] = d;
      sorted &= k == d;
   }
   if (sorted) return 0;
   for (int i = 1; i < count; i++)
      if (tensors[i]->nDimension != n || memcmp(tensors[i]->size, first->size, (size_t)n * sizeof *first->size))
         return 0;
   for (int i = 0; i < count; i++) {
      arranged *a = &room[i];
      for (int d = 0; d < n; d++) {
         a->size[d] = tensors[i]->size[order[d]];
         a->stride[d] = tensors[i]->stride[order[d]];
      }
      a->t = *tensors[i];
      a->t.size = a->size;
      a->t.stride = a->stride;
      tensors[i] = &a->t;
   }
   return 1;
}

/* Start a walk over the first elements of a's lines along `dim`. 0: as walk_start. */
static inline int walk_lines(walk *w, const br_tensor *a, int dim)
{
   int64_t size[WALK_DIMS];
   if (a->nDimension > WALK_DIMS || !br_tensor_covered(a)) return 0;
   br_tensor starts = *a;
   memcpy(size, a->size, (size_t)a->nDimension * sizeof *size);
   size[dim] = 1;
   starts.size = size;
   return walk_start(w, &starts);
}

static inline int64_t walk_shortest(const walk *a, const walk *b) { return a->left < b->left ? a->left : b->left; }

#endif
