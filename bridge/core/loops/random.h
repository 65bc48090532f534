/* Torch7's random numbers: the Mersenne Twister MT19937 and the distributions over it, bit for bit.
 *
 * Every function takes the generator it draws from and nothing is shared, so Lua states in several threads can draw at
 * the same time. */
#ifndef BRIDGE_RANDOM_H
#define BRIDGE_RANDOM_H

#include "tensors/tensor.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
/* The 5048 bytes that torch.getRNGState shows: Torch7's own layout. */
typedef struct br_generator {
   uint64_t initial_seed;
   int left;            /* draws until the next block, plus one */
   int seeded;
   uint64_t next;       /* the next word of `state` to be drawn */
   uint64_t state[624]; /* 32 bits of each are used */
   double normal_x;     /* the two uniforms behind the pair of normals drawn last, and its radius */
   double normal_y;
   double normal_rho;
   int normal_is_valid; /* 1: the second normal of the pair is still to be returned */
} br_generator;

enum { BR_RANDOM_UNIFORM, BR_RANDOM_NORMAL, BR_RANDOM_EXPONENTIAL, BR_RANDOM_CAUCHY, BR_RANDOM_LOGNORMAL,
       BR_RANDOM_GEOMETRIC, BR_RANDOM_BERNOULLI };

void br_random_seed(br_generator *generator, uint64_t seed);
/* A seed from the system's entropy, below 2^53. */
uint64_t br_random_entropy(void);
/* Can numbers be drawn from this state? One that a program has set may be inconsistent. */
int br_random_valid(const br_generator *generator);

/* 32 random bits. */
uint64_t br_random_bits(br_generator *generator);
/* One number of a distribution with its parameters: uniform (from, to), normal and lognormal (mean, deviation),
   exponential (rate), cauchy (median, scale), geometric and bernoulli (probability). */
double br_random_draw(br_generator *generator, int distribution, double a, double b);

/* Fill a tensor of any type but half, element by element in order. 0, or -1: no memory covers the tensor. */
int br_random_fill(br_generator *generator, br_tensor *tensor, int distribution, double a, double b);
/* The same with uniform integers a .. b, as unsigned 64-bit numbers converted to the tensor's type. */
int br_random_integers(br_generator *generator, br_tensor *tensor, int64_t a, int64_t b);
/* The same with 0 or 1: every element is 1 with the probability that the same element of `p` gives, a contiguous double
   tensor with as many elements. */
int br_random_bernoulli_each(br_generator *generator, br_tensor *tensor, const br_tensor *p);
/* Fill it with a permutation of 1 .. n, where n is the number of elements. 0, or -1: as above, or out of memory. */
int br_random_permutation(br_generator *generator, br_tensor *tensor);

/* `samples` 1-based categories from `categories` weights. The running sums are kept in `sums` (room for `categories`),
   rounded to float if `single`. 0, or -1: the sum of the weights is not above zero. */
int br_random_multinomial(br_generator *generator, const double *weights, double *sums, int64_t categories,
                          int64_t *result, int64_t samples, int replace, int single);
/* Tables for drawing from `n` probabilities in constant time; `scratch` has room for 2 n. 0, or -1: a probability is
   not above zero. */
int br_random_alias_setup(const double *p, int64_t n, int64_t *alias, double *q, int64_t *scratch, int single);
/* 0, or -1: `alias` has an element that is not a category. */
int br_random_alias_draw(br_generator *generator, const int64_t *alias, const double *q, int64_t n, int64_t *result,
                         int64_t samples);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

#endif
