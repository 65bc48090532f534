#include "loops/loops.h"

#include "loops/kernels.h"
#include "loops/parallel.h"
#include "tensors/element.h"
#include "tensors/walk.h"

#define GRAIN 32768 /* elements below which a second thread costs more than it saves */
#define ARRANGED 32 /* elements below which reordering the dimensions costs more than it saves */

double br_half_to_double(uint16_t half) { return plain_number(half_to_float(half)); }
double br_number(const void *at, int dtype)
{
   if (dtype == BR_FLOAT) return plain_number(*(const float *)at);
   return plain_number(*(const double *)at);
}
uint16_t br_half_from_double(double x) { return float_to_half((float)x); }

/* ---- running a kernel over up to four tensors; the first is the result */

typedef struct job {
   kernel f;
   int operands;
   const walk *walks;
   double v, w;
} job;

/* For walks that have one run each. */
static void plain_range(int64_t begin, int64_t end, void *context)
{
   const job *j = context;
   char *p[4];
   ptrdiff_t step[4];
   for (int i = 0; i < j->operands; i++) {
      step[i] = j->walks[i].step;
      p[i] = j->walks[i].p + begin * step[i];
   }
   j->f(p, step, end - begin, j->v, j->w);
}

static void walk_along(const job *j, walk *walks, int64_t n)
{
   while (n > 0) {
      char *p[4];
      ptrdiff_t step[4];
      int64_t count = n;
      for (int i = 0; i < j->operands; i++) {
         p[i] = walks[i].p;
         step[i] = walks[i].step;
         if (walks[i].left < count) count = walks[i].left;
      }
      j->f(p, step, count, j->v, j->w);
      for (int i = 0; i < j->operands; i++) walk_advance(&walks[i], count);
      n -= count;
   }
}

static void range(int64_t begin, int64_t end, void *context)
{
   const job *j = context;
   walk walks[4];
   for (int i = 0; i < j->operands; i++) walk_from(&walks[i], &j->walks[i], begin);
   walk_along(j, walks, end - begin);
}

static int start(walk *walks, const br_tensor *const *tensors, int operands, int *plain)
{
   *plain = 1;
   for (int i = 0; i < operands; i++) {
      if (!walk_start(&walks[i], tensors[i])) return 0;
      *plain &= walks[i].outer == 0;
   }
   return 1;
}

static int run(kernel f, const br_tensor **tensors, int operands, double v, double w)
{
   if (!f) return BR_TYPE;
   walk walks[4];
   arranged room[4];
   int64_t n = tensor_elements(tensors[0]);
   int plain;
   for (int i = 1; i < operands; i++)
      if (tensor_elements(tensors[i]) != n) return BR_COUNT;
   if (!start(walks, tensors, operands, &plain)) return BR_GONE;
   if (n == 0) return BR_OK;
   if (!plain && n >= ARRANGED && walk_arrange(tensors, room, operands)) start(walks, tensors, operands, &plain);
   job j = {f, operands, walks, v, w};
   if (plain) br_parallel(n, GRAIN, plain_range, &j);
   else if (n > GRAIN) br_parallel(n, GRAIN, range, &j);
   else walk_along(&j, walks, n);
   return BR_OK;
}

/* ---- entries */

static int is_integer(int dtype) { return dtype <= BR_LONG; }

/* Integer division by zero would trap, so zeros are looked for before anything is written. */
static int has_zero(const br_tensor *b)
{
   double all;
   return is_integer(b->dtype) && br_reduce(BR_ALL, b, 0, &all) == BR_OK && all == 0;
}

static int becomes_zero(int dtype, double v)
{
#define BECOMES_ZERO(T) case T##_id: return T##_from(v) == 0;
   switch (dtype) { ALL_TYPES(BECOMES_ZERO) }
   return 0;
}

int br_fill(br_tensor *r, double v)
{
   static const kernel fills[BR_TYPES] = PER_TYPE(fill);
   const br_tensor *tensors[] = {r};
   return run(fills[r->dtype], tensors, 1, v, 0);
}

int br_map(int op, br_tensor *r, const br_tensor *a, double v, double w)
{
   if ((unsigned)op >= BR_MAPS || r->dtype != a->dtype) return BR_TYPE;
   int divides = op == BR_DIVS || op == BR_FMODS || op == BR_REMAINDERS;
   if (divides && is_integer(a->dtype) && becomes_zero(a->dtype, v)) return BR_ZERO;
   if (op == BR_RDIVS && has_zero(a)) return BR_ZERO;
   const br_tensor *tensors[] = {r, a};
   return run(maps[op][a->dtype], tensors, 2, v, w);
}

int br_pair(int op, br_tensor *r, const br_tensor *a, const br_tensor *b, double v)
{
   if ((unsigned)op >= BR_PAIRS || r->dtype != a->dtype || r->dtype != b->dtype) return BR_TYPE;
   if ((op == BR_DIV || op == BR_FMOD || op == BR_REMAINDER) && has_zero(b)) return BR_ZERO;
   const br_tensor *tensors[] = {r, a, b};
   return run(pairs[op][a->dtype], tensors, 3, v, 0);
}

int br_triple(int op, br_tensor *r, const br_tensor *a, const br_tensor *b, const br_tensor *c, double v)
{
   int dtype = r->dtype;
   if ((unsigned)op >= BR_TRIPLES || dtype != a->dtype || dtype != b->dtype || dtype != c->dtype) return BR_TYPE;
   if (op == BR_ADDCDIV && has_zero(c)) return BR_ZERO;
   const br_tensor *tensors[] = {r, a, b, c};
   return run(triples[op][dtype], tensors, 4, v, 0);
}

int br_gate(int op, br_tensor *r, const br_tensor *a, const br_tensor *b, double v, double w)
{
   if ((unsigned)op >= BR_GATES || r->dtype != a->dtype || r->dtype != b->dtype) return BR_TYPE;
   const br_tensor *tensors[] = {r, a, b};
   return run(gates[op][a->dtype], tensors, 3, v, w);
}

int br_compare(int op, br_tensor *r, const br_tensor *a, const br_tensor *b, double v)
{
   if ((unsigned)op >= BR_COMPARISONS || (b && a->dtype != b->dtype)) return BR_TYPE;
   if (r->dtype != BR_BYTE && r->dtype != a->dtype) return BR_TYPE;
   const br_tensor *tensors[] = {r, a, b};
   int form = (b ? 2 : 0) + (r->dtype != BR_BYTE);
   return run(comparisons[op][form][a->dtype], tensors, b ? 3 : 2, v, 0);
}
