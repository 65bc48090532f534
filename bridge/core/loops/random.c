#define _GNU_SOURCE
#include "loops/random.h"
#include "tensors/walk.h"

#include <math.h>
#include <stdlib.h>
#include <sys/random.h>

enum { N = 624, M = 397, BLOCK = 512 };

/* ---- the twister: Matsumoto & Nishimura, "Mersenne Twister", ACM TOMACS 8 (1998) */

void br_random_seed(br_generator *generator, uint64_t seed)
{
   uint64_t *state = generator->state;
   generator->initial_seed = seed;
   state[0] = seed & 0xffffffffu;
   for (int i = 1; i < N; i++)
      state[i] = (1812433253u * (state[i - 1] ^ (state[i - 1] >> 30)) + (uint64_t)i) & 0xffffffffu;
   generator->left = 1;
   generator->seeded = 1;
   generator->next = 0;
   generator->normal_x = generator->normal_y = generator->normal_rho = 0;
   generator->normal_is_valid = 0;
}

uint64_t br_random_entropy(void)
{
   uint64_t seed = 0;
   if (getrandom(&seed, sizeof seed, 0) != sizeof seed) seed = (uint64_t)(uintptr_t)&seed;
   return seed >> 11;
}

int br_random_valid(const br_generator *generator)
{
   return generator->seeded == 1 && generator->left > 0 && generator->left <= N &&
          generator->next <= (uint64_t)(N + 1 - generator->left);
}

static inline uint64_t twist(uint64_t u, uint64_t v)
{
   return (((u & 0x80000000u) | (v & 0x7fffffffu)) >> 1) ^ (-(v & 1) & 0x9908b0dfu);
}

static void next_block(br_generator *generator)
{
   uint64_t *s = generator->state;
   int i = 0;
   for (; i < N - M; i++) s[i] = s[i + M] ^ twist(s[i], s[i + 1]);
   for (; i < N - 1; i++) s[i] = s[i + M - N] ^ twist(s[i], s[i + 1]);
   s[N - 1] = s[M - 1] ^ twist(s[N - 1], s[0]);
   generator->left = N;
   generator->next = 0;
}

static inline uint64_t bits(br_generator *generator)
{
   if (--generator->left == 0) next_block(generator);
   uint64_t y = generator->state[generator->next++];
   y ^= y >> 11;
   y ^= (y << 7) & 0x9d2c5680u;
   y ^= (y << 15) & 0xefc60000u;
   return y ^ (y >> 18);
}

uint64_t br_random_bits(br_generator *generator) { return bits(generator); }

/* ---- distributions */

static inline double uniform(br_generator *generator) { return (double)bits(generator) * (1.0 / 4294967296.0); }

static inline int bernoulli(br_generator *generator, double p) { return uniform(generator) <= p; }

/* Box and Muller's pair of normals: the one with the cosine now, the one with the sine at the next call. */
static inline double normal(br_generator *generator)
{
   if (generator->normal_is_valid) {
      generator->normal_is_valid = 0;
      return generator->normal_rho * sin(2. * M_PI * generator->normal_x);
   }
   generator->normal_x = uniform(generator);
   generator->normal_y = uniform(generator);
   generator->normal_rho = sqrt(-2. * log(1.0 - generator->normal_y));
   generator->normal_is_valid = 1;
   return generator->normal_rho * cos(2. * M_PI * generator->normal_x);
}

/* `count` numbers of one distribution, in order. */
static void draw(br_generator *generator, int distribution, double a, double b, double *out, int count)
{
   int i = 0;
   switch (distribution) {
   case BR_RANDOM_UNIFORM:
      for (; i < count; i++) out[i] = uniform(generator) * (b - a) + a;
      break;
   case BR_RANDOM_NORMAL:
   case BR_RANDOM_LOGNORMAL:
      if (generator->normal_is_valid && count) out[i++] = normal(generator) * b + a;
      for (; i + 1 < count; i += 2) {
         double x = generator->normal_x = uniform(generator), y = generator->normal_y = uniform(generator), sine,
                cosine;
         double rho = generator->normal_rho = sqrt(-2. * log(1.0 - y));
         sincos(2. * M_PI * x, &sine, &cosine);
         out[i] = rho * cosine * b + a;
         out[i + 1] = rho * sine * b + a;
      }
      if (i < count) out[i] = normal(generator) * b + a;
      if (distribution == BR_RANDOM_LOGNORMAL)
         for (i = 0; i < count; i++) out[i] = exp(out[i]);
      break;
   case BR_RANDOM_EXPONENTIAL:
      for (; i < count; i++) out[i] = -1. / a * log(1 - uniform(generator));
      break;
   case BR_RANDOM_CAUCHY:
      for (; i < count; i++) out[i] = a + b * tan(M_PI * (uniform(generator) - 0.5));
      break;
   case BR_RANDOM_GEOMETRIC:
      for (; i < count; i++) out[i] = (int)(log(1 - uniform(generator)) / log(a)) + 1;
      break;
   case BR_RANDOM_BERNOULLI:
      for (; i < count; i++) out[i] = bernoulli(generator, a);
      break;
   }
}

double br_random_draw(br_generator *generator, int distribution, double a, double b)
{
   double result = 0;
   draw(generator, distribution, a, b, &result, 1);
   return result;
}

/* ---- tensors */

/* Store `count` numbers at `data`, `step` bytes apart. */
#define STORE \
   switch (dtype) { \
   case BR_BYTE: STORE_AS(uint8_t, int64_t) \
   case BR_CHAR: STORE_AS(int8_t, int64_t) \
   case BR_SHORT: STORE_AS(int16_t, int64_t) \
   case BR_INT: STORE_AS(int32_t, int64_t) \
   case BR_LONG: STORE_AS(int64_t, int64_t) \
   case BR_FLOAT: STORE_AS(float, float) \
   case BR_DOUBLE: STORE_AS(double, double) \
   }
#define STORE_AS(type, through) \
   for (int i = 0; i < count; i++) *(type *)(data + i * step) = (type)(through)values[i]; \
   break;

static void store_numbers(char *data, int dtype, ptrdiff_t step, const double *values, int count) { STORE }
static void store_integers(char *data, int dtype, ptrdiff_t step, const uint64_t *values, int count) { STORE }

/* Where the numbers of a fill come from. `fill` makes the next `count` (at most BLOCK) and stores them at `data`. */
typedef struct source source;
struct source {
   br_generator *generator;
   void (*fill)(source *self, char *data, int dtype, ptrdiff_t step, int count);
   int distribution;
   double a, b;
   uint64_t base, span;   /* integers: base + draw % span; a span of 0 means 2^64 */
   const double *p;       /* probabilities still to be used */
   const int64_t *values; /* numbers still to be copied */
};

static void fill_drawn(source *self, char *data, int dtype, ptrdiff_t step, int count)
{
   double values[BLOCK];
   if (dtype == BR_DOUBLE && step == sizeof(double)) {
      draw(self->generator, self->distribution, self->a, self->b, (double *)data, count);
      return;
   }
   draw(self->generator, self->distribution, self->a, self->b, values, count);
   store_numbers(data, dtype, step, values, count);
}

static void fill_integers(source *self, char *data, int dtype, ptrdiff_t step, int count)
{
   uint64_t values[BLOCK];
   for (int i = 0; i < count; i++) {
      uint64_t drawn = bits(self->generator);
      values[i] = (self->span ? drawn % self->span : drawn) + self->base;
   }
   store_integers(data, dtype, step, values, count);
}

static void fill_each(source *self, char *data, int dtype, ptrdiff_t step, int count)
{
   double values[BLOCK];
   for (int i = 0; i < count; i++) values[i] = bernoulli(self->generator, *self->p++);
   store_numbers(data, dtype, step, values, count);
}

static void fill_copied(source *self, char *data, int dtype, ptrdiff_t step, int count)
{
   store_integers(data, dtype, step, (const uint64_t *)self->values, count);
   self->values += count;
}

/* 0, or -1: no memory covers the tensor. */
static int fill(source *from, const br_tensor *tensor)
{
   int64_t left = tensor_elements(tensor);
   walk at;
   if (left == 0) return 0;
   if (!walk_start(&at, tensor)) return -1;
   while (left > 0) {
      int count = at.left < BLOCK ? (int)at.left : BLOCK;
      from->fill(from, at.p, tensor->dtype, at.step, count);
      left -= count;
      walk_advance(&at, count);
   }
   return 0;
}

int br_random_fill(br_generator *generator, br_tensor *tensor, int distribution, double a, double b)
{
   source from = {.generator = generator, .fill = fill_drawn, .distribution = distribution, .a = a, .b = b};
   return fill(&from, tensor);
}

int br_random_integers(br_generator *generator, br_tensor *tensor, int64_t a, int64_t b)
{
   source from = {.generator = generator, .fill = fill_integers, .base = (uint64_t)a,
                  .span = (uint64_t)b - (uint64_t)a + 1};
   return fill(&from, tensor);
}

int br_random_bernoulli_each(br_generator *generator, br_tensor *tensor, const br_tensor *p)
{
   if (!br_tensor_covered(p)) return -1;
   source from = {.generator = generator, .fill = fill_each, .p = (const double *)tensor_data(p)};
   return fill(&from, tensor);
}

int br_random_permutation(br_generator *generator, br_tensor *tensor)
{
   int64_t n = tensor_elements(tensor), *order = malloc((size_t)n * sizeof *order + 1);
   if (!order) return -1;
   for (int64_t i = 0; i < n; i++) order[i] = i + 1;
   for (int64_t i = 0; i < n - 1; i++) {
      int64_t other = i + (int64_t)(bits(generator) % (uint64_t)(n - i)), kept = order[i];
      order[i] = order[other];
      order[other] = kept;
   }
   source from = {.fill = fill_copied, .values = order};
   int rc = fill(&from, tensor);
   free(order);
   return rc;
}

/* ---- categories */

static inline double rounded(double x, int single) { return single ? (double)(float)x : x; }

/* The first category whose running sum reaches x. */
static int64_t reach(const double *sums, int64_t categories, double x)
{
   int64_t low = 0, high = categories;
   while (low < high) {
      int64_t middle = low + (high - low) / 2;
      if (sums[middle] < x) low = middle + 1;
      else high = middle;
   }
   return low;
}

int br_random_multinomial(br_generator *generator, const double *weights, double *sums, int64_t categories,
                          int64_t *result, int64_t samples, int replace, int single)
{
   double total = 0;
   for (int64_t i = 0; i < categories; i++) sums[i] = rounded(total += weights[i], single);
   if (!(total > 0)) return -1;
   for (int64_t i = 0; i < categories; i++) sums[i] = rounded(sums[i] / total, single);
   for (int64_t j = 0; j < samples; j++) {
      double x = uniform(generator);
      sums[categories - 1] = 1;
      int64_t hit = reach(sums, categories, x);
      result[j] = hit + 1;
      if (replace) continue;
      double mass = sums[hit] - (hit ? sums[hit - 1] : 0), rest = 1.0 - mass;
      for (int64_t i = 0; i < categories; i++) sums[i] = rounded((i >= hit ? sums[i] - mass : sums[i]) / rest, single);
   }
   return 0;
}

/* Vose, "A linear algorithm for generating random numbers with a given distribution", IEEE TSE 17 (1991), with
   Torch7's habit to read alias 1 (the first category) as "no alias". */
int br_random_alias_setup(const double *p, int64_t n, int64_t *alias, double *q, int64_t *scratch, int single)
{
   int64_t *small = scratch, *large = scratch + n, smalls = 0, larges = 0;
   for (int64_t i = 0; i < n; i++) {
      alias[i] = 1;
      q[i] = rounded((double)n * p[i], single);
      if ((double)n * p[i] < 1.0) small[smalls++] = i;
      else large[larges++] = i;
   }
   while (smalls > 0 && larges > 0) {
      int64_t from = large[larges - 1], to = small[smalls - 1];
      alias[to] = from + 1;
      q[from] = rounded(q[from] - (1.0 - q[to]), single);
      if (q[from] < 1.0) {
         small[smalls - 1] = from;
         larges--;
      } else smalls--;
   }
   double least = q[0], most = q[0];
   for (int64_t i = 0; i < n; i++) {
      if (q[i] < least) least = q[i];
      if (q[i] > most) most = q[i];
   }
   if (!(least >= 0)) return -1;
   for (int64_t i = 0; i < n; i++) {
      if (most > 1) q[i] = rounded(q[i] / most, single);
      if (alias[i] <= 1) q[i] = 1.0;
   }
   return 0;
}

/* A drawn alias is returned one too low. So it is in Torch7, and the same seed must give the same numbers. */
int br_random_alias_draw(br_generator *generator, const int64_t *alias, const double *q, int64_t n, int64_t *result,
                         int64_t samples)
{
   for (int64_t i = 0; i < n; i++)
      if (alias[i] < 1 || alias[i] > n) return -1;
   for (int64_t j = 0; j < samples; j++) {
      int64_t i = (int64_t)(uniform(generator) * (double)n);
      result[j] = bernoulli(generator, q[i]) ? i + 1 : alias[i] - 1;
   }
   return 0;
}
