/* Torch7's random numbers: the Mersenne Twister MT19937 and the distributions over it, bit for bit.
 *
 * Every function takes the generator it draws from and nothing is shared, so states in several threads draw at once. */
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
   uint64_t state[624]; /* 32 bits each */
   double normal_x;     /* the two uniforms behind the pair of normals drawn last, and its radius */
   double normal_y;
   double normal_rho;
   int normal_is_valid; /* the second of the pair is still to be given out */
} br_generator;

enum { BR_RANDOM_UNIFORM, BR_RANDOM_NORMAL, BR_RANDOM_EXPONENTIAL, BR_RANDOM_CAUCHY, BR_RANDOM_LOGNORMAL,
       BR_RANDOM_GEOMETRIC, BR_RANDOM_BERNOULLI };

void br_random_seed(br_generator *generator, uint64_t seed);
/* A seed from the system's entropy, below 2^53. */
uint64_t br_random_entropy(void);
/* Is this a state that draws can continue from? */
int br_random_valid(const br_generator *generator);

/* 32 random bits. */
uint64_t br_random_bits(br_generator *generator);
/* One number of a distribution with its parameters: uniform (from, to), normal and lognormal (mean, deviation),
   exponential (rate), cauchy (median, scale), geometric and bernoulli (probability). */
double br_random_draw(br_generator *generator, int distribution, double a, double b);

/* Fill a tensor of any type but half, element by element in order. 0, or -1: the memory behind it is gone. */
int br_random_fill(br_generator *generator, br_tensor *tensor, int distribution, double a, double b);
/* The same with uniform integers a .. b, as unsigned 64-bit numbers converted to the tensor's type. */
int br_random_integers(br_generator *generator, br_tensor *tensor, int64_t a, int64_t b);
/* The same with 1 at the probability of the same element of `p`, a contiguous double tensor with as many elements. */
int br_random_bernoulli_each(br_generator *generator, br_tensor *tensor, const br_tensor *p);
/* A permutation of 1 .. n, n being the number of elements. 0, or -1: out of memory, or as above. */
int br_random_permutation(br_generator *generator, br_tensor *tensor);

/* `samples` 1-based categories from `categories` weights. The running sums are kept in `sums` (room for `categories`),
   rounded to float when `single`. 0, or -1: the weights sum to nothing. */
int br_random_multinomial(br_generator *generator, const double *weights, double *sums, int64_t categories,
                          int64_t *result, int64_t samples, int replace, int single);
/* Tables for drawing from `n` probabilities in constant time; `scratch` has room for 2 n. 0, or -1: a probability is
   not above zero. */
int br_random_alias_setup(const double *p, int64_t n, int64_t *alias, double *q, int64_t *scratch, int single);
/* 0, or -1: an alias is no category. */
int br_random_alias_draw(br_generator *generator, const int64_t *alias, const double *q, int64_t n, int64_t *result,
                         int64_t samples);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

#endif
