/* The eight element types as the loops see them: how each is loaded, computed with and stored.
 *
 * For a tag T: T_s is the type in memory, T_c the type for computing, T_u the unsigned integer as wide as T_s. Numbers
 * from Lua are converted by T_from, which truncates as Torch7 does; integers wrap. No input leads to undefined
 * behaviour. */
#ifndef BRIDGE_ELEMENT_H
#define BRIDGE_ELEMENT_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tensors/layout.h"

#define INTEGER_TYPES(X) X(u8) X(i8) X(i16) X(i32) X(i64)
#define FLOAT_TYPES(X) X(f16) X(f32) X(f64)
#define ALL_TYPES(X) INTEGER_TYPES(X) FLOAT_TYPES(X)

/* A WIDE function is compiled twice, for any x86-64 and for AVX2; the dynamic loader chooses what the machine can run.
   FMA is not used: a result must have the same bits on every machine. */
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && \
   !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

/* A double outside the range becomes the smallest integer, which is what x86-64's conversion gives. */
static inline int32_t to_i32(double x) { return x > -2147483649.0 && x < 2147483648.0 ? (int32_t)x : INT32_MIN; }
static inline int64_t to_i64(double x)
{
   return x >= -9223372036854775808.0 && x < 9223372036854775808.0 ? (int64_t)x : INT64_MIN;
}

static inline float half_to_float(uint16_t h)
{
   uint32_t sign = (uint32_t)(h & 0x8000) << 16, exponent = (h >> 10) & 31, fraction = h & 1023, bits;
   float x;
   if (exponent == 31) bits = sign | 0x7f800000 | fraction << 13;
   else if (exponent) bits = sign | (exponent + 112) << 23 | fraction << 13;
   else {
      x = (float)fraction * 0x1p-24f;
      return sign ? -x : x;
   }
   memcpy(&x, &bits, sizeof x);
   return x;
}

/* Round to nearest, ties to even, by adding a float whose last place is the half's last place. */
static inline uint16_t float_to_half(float x)
{
   uint32_t bits, sign, base;
   memcpy(&bits, &x, sizeof bits);
   sign = bits >> 16 & 0x8000;
   bits &= 0x7fffffff;
   if (bits > 0x7f800000) return (uint16_t)(sign | 0x7e00);
   if (bits >= 0x477ff000) return (uint16_t)(sign | 0x7c00);
   if (bits < 0x38800000) {
      float tiny;
      memcpy(&tiny, &bits, sizeof tiny);
      tiny += 0.5f;
      memcpy(&base, &tiny, sizeof base);
      return (uint16_t)(sign | (base - 0x3f000000));
   }
   bits += 0xc8000fff + (bits >> 13 & 1);
   return (uint16_t)(sign | bits >> 13);
}

/* A number that is safe to hand to Lua. LuaJIT encodes its other values in the bits of NaNs: a NaN from a tensor could
 * be mistaken for nil, or for a table at any address. So only the plain NaN is handed on. */
static inline double plain_number(double x) { return isnan(x) ? (double)NAN : x; }

#define ELEMENT(T, id, stored, computed, unsigned_, load, store, from) \
   enum { T##_id = id }; \
   typedef stored T##_s; \
   typedef computed T##_c; \
   typedef unsigned_ T##_u; \
   static inline T##_c T##_load(T##_s x) { return load; } \
   static inline T##_s T##_store(T##_c x) { return store; } \
   static inline T##_c T##_from(double x) { return from; }

ELEMENT(u8, BR_BYTE, uint8_t, int32_t, uint8_t, x, (uint8_t)x, (uint8_t)to_i32(x))
ELEMENT(i8, BR_CHAR, int8_t, int32_t, uint8_t, x, (int8_t)x, (int8_t)to_i32(x))
ELEMENT(i16, BR_SHORT, int16_t, int32_t, uint16_t, x, (int16_t)x, (int16_t)to_i32(x))
ELEMENT(i32, BR_INT, int32_t, int32_t, uint32_t, x, x, to_i32(x))
ELEMENT(i64, BR_LONG, int64_t, int64_t, uint64_t, x, x, to_i64(x))
ELEMENT(f16, BR_HALF, uint16_t, float, uint16_t, half_to_float(x), float_to_half(x), (float)x)
ELEMENT(f32, BR_FLOAT, float, float, uint32_t, x, x, (float)x)
ELEMENT(f64, BR_DOUBLE, double, double, uint64_t, x, x, x)

/* The bytes of v in an element of this type. */
static inline void element_encode(int dtype, double v, char *bytes)
{
#define ENCODE(T) case T##_id: { T##_s x = T##_store(T##_from(v)); memcpy(bytes, &x, sizeof x); } break;
   switch (dtype) { ALL_TYPES(ENCODE) }
#undef ENCODE
}

/* The number in an element of this type. */
static inline double element_decode(int dtype, const char *bytes)
{
#define DECODE(T) case T##_id: { T##_s x; memcpy(&x, bytes, sizeof x); return (double)T##_load(x); }
   switch (dtype) { ALL_TYPES(DECODE) }
#undef DECODE
   return 0;
}

/* One entry for each element type, in the order of BR_BYTE .. BR_DOUBLE; NULL where there is none. */
#define PER_TYPE(name) {name##_u8, name##_i8, name##_i16, name##_i32, name##_i64, name##_f16, name##_f32, name##_f64}
#define PER_INTEGER(name) {name##_u8, name##_i8, name##_i16, name##_i32, name##_i64, NULL, NULL, NULL}
#define PER_FLOAT(name) {NULL, NULL, NULL, NULL, NULL, name##_f16, name##_f32, name##_f64}

#endif
