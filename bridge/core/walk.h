/* Walking over several tensors at once, element by element in each one's own row-major order.
 *
 * A walk yields runs: elements a constant number of bytes apart. Neighbouring dimensions that lie behind each other are
 * one; tensors of different shapes and strides walk together as long as they have equally many elements. */
#ifndef BRIDGE_WALK_H
#define BRIDGE_WALK_H

#include <string.h>

#include "tensor.h"

#define WALK_DIMS 32

/* torch's torch_parallel_for, or NULL: 0 when f has seen the whole range. */
extern int32_t (*br_parallel_for)(int64_t begin, int64_t end, int64_t grain,
                                  void (*f)(int64_t begin, int64_t end, void *context), void *context);

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

/* Is every element a run can reach backed by memory, and the shape one a walk can hold? */
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

/* The starts of a's lines along `dim`: a walk over a with that dimension taken out. */
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
