/* Remainders of many divisions at once, bit for bit those of C's fmod.
 *
 * The divisor is split into its upper and its lower bits. A quotient of at most 26 bits times either part is exact, and
 * so are the two subtractions. If x / y was rounded up to the next whole number, the difference is negative and the
 * divisor is added once, which is exact too. Longer quotients and numbers that are not finite are left to fmod. */
#ifndef BRIDGE_REST_H
#define BRIDGE_REST_H

#include <float.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tensors/element.h"

enum { REST_AT_ONCE = 64 };

static inline double upper_half(double x)
{
   uint64_t bits;
   memcpy(&bits, &x, sizeof bits);
   bits &= ~(uint64_t)0x7ffffff;
   memcpy(&x, &bits, sizeof bits);
   return x;
}

/* r = fmod(a, b), REST_AT_ONCE of each. */
static WIDE void rests(double *restrict r, const double *restrict a, const double *restrict b)
{
   uint64_t exact = 1;
   for (int k = 0; k < REST_AT_ONCE; k++) {
      const double x = fabs(a[k]), y = fabs(b[k]), high = upper_half(y), quotient = trunc(x / y);
      const double left = x - quotient * high - quotient * (y - high);
      exact &= (quotient < 0x1p26) & (y <= DBL_MAX);
      r[k] = copysign(left < 0 ? left + y : left, a[k]);
   }
   if (!exact)
      for (int k = 0; k < REST_AT_ONCE; k++) r[k] = fmod(a[k], b[k]);
}

/* Two kernels (see kernels.h): fmods divides elements by a number, fmod elements by elements. */
#define REST_LOOP(T, NAME, DIVISOR) \
   static void NAME##_##T(char *const *p, const ptrdiff_t *step, int64_t n, double v, double w) \
   { \
      double a[REST_AT_ONCE], b[REST_AT_ONCE], r[REST_AT_ONCE]; \
      (void)v, (void)w; \
      for (int k = 0; k < REST_AT_ONCE; k++) a[k] = b[k] = 1; \
      for (int64_t i = 0; i < n; i += REST_AT_ONCE) { \
         const int count = n - i < REST_AT_ONCE ? (int)(n - i) : REST_AT_ONCE; \
         for (int k = 0; k < count; k++) { \
            a[k] = (double)T##_load(*(const T##_s *)(p[1] + (i + k) * step[1])); \
            b[k] = (double)(DIVISOR); \
         } \
         rests(r, a, b); \
         for (int k = 0; k < count; k++) *(T##_s *)(p[0] + (i + k) * step[0]) = T##_store((T##_c)r[k]); \
      } \
   }
#define RESTS(T) \
   REST_LOOP(T, fmods, T##_from(v)) REST_LOOP(T, fmod, T##_load(*(const T##_s *)(p[2] + (i + k) * step[2])))
FLOAT_TYPES(RESTS)

#endif
