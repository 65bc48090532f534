/* The kernels of the operations in loops.h: a function for every operation and element type, and tables of them. Only
 * loops.c includes this file, after loops.h.
 *
 * A kernel takes up to four operands, the result first: where each begins, the bytes from one element to the next, the
 * number of elements, and two constants v and w. If all operands are contiguous, it runs a loop that the compiler
 * vectorises, otherwise a loop over byte strides. */
#ifndef BRIDGE_KERNELS_H
#define BRIDGE_KERNELS_H

#include <tgmath.h> /* expf for floats, exp for doubles */

#include "loops/rest.h"
#include "tensors/element.h"

typedef void (*kernel)(char *const *p, const ptrdiff_t *step, int64_t n, double v, double w);

/* The bodies of kernels with one, two and three operands a, b, c beside the result. */
#define BODY1(T, R, EXPR) \
   const T##_c v = T##_from(v_), w = T##_from(w_); \
   (void)v, (void)w; \
   if (step[0] == sizeof(R##_s) && step[1] == sizeof(T##_s)) { \
      R##_s *r = (R##_s *)p[0]; \
      const T##_s *x = (const T##_s *)p[1]; \
      _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) { \
         const T##_c a = T##_load(x[i]); \
         r[i] = R##_store(EXPR); \
      } \
      return; \
   } \
   char *r = p[0]; \
   const char *x = p[1]; \
   for (; n > 0; n--, r += step[0], x += step[1]) { \
      const T##_c a = T##_load(*(const T##_s *)x); \
      *(R##_s *)r = R##_store(EXPR); \
   }

#define BODY2(T, R, EXPR) \
   const T##_c v = T##_from(v_); \
   (void)v, (void)w_; \
   if (step[0] == sizeof(R##_s) && step[1] == sizeof(T##_s) && step[2] == sizeof(T##_s)) { \
      R##_s *r = (R##_s *)p[0]; \
      const T##_s *x = (const T##_s *)p[1], *y = (const T##_s *)p[2]; \
      _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) { \
         const T##_c a = T##_load(x[i]), b = T##_load(y[i]); \
         r[i] = R##_store(EXPR); \
      } \
      return; \
   } \
   char *r = p[0]; \
   const char *x = p[1], *y = p[2]; \
   for (; n > 0; n--, r += step[0], x += step[1], y += step[2]) { \
      const T##_c a = T##_load(*(const T##_s *)x), b = T##_load(*(const T##_s *)y); \
      *(R##_s *)r = R##_store(EXPR); \
   }

#define KERNEL(T, NAME, BODY) \
   static WIDE void NAME##_##T(char *const *p, const ptrdiff_t *step, int64_t n, double v_, double w_) { BODY }
#define MAP(T, NAME, EXPR) KERNEL(T, NAME, BODY1(T, T, EXPR))
#define PAIR(T, NAME, EXPR) KERNEL(T, NAME, BODY2(T, T, EXPR))
#define GATE(T, NAME, EXPR) KERNEL(T, NAME, const T##_c w = T##_from(w_); (void)w; BODY2(T, T, EXPR))

#define WRAP(T, OP, X, Y) ((T##_c)((uint64_t)(X) OP (uint64_t)(Y)))
#define NEGATED(T, X) WRAP(T, -, 0, X)
/* Division by zero is refused before a kernel runs. The smallest integer divided by -1 must wrap, not trap. */
#define QUOTIENT(T, X, Y) ((Y) == -1 ? NEGATED(T, X) : (X) / (Y))
#define REST(X, Y) ((Y) == -1 ? 0 : (X) % (Y))
#define MODULO(X, Y) (REST(X, Y) && (REST(X, Y) < 0) != ((Y) < 0) ? REST(X, Y) + (Y) : REST(X, Y))
#define SHIFTED(T, OP, X, Y) ((Y) < 0 || (Y) >= (T##_c)(8 * sizeof(T##_s)) ? 0 : (T##_c)((T##_u)(X) OP (Y)))

#define INTEGER_KERNELS(T) \
   MAP(T, adds, WRAP(T, +, a, v)) \
   MAP(T, muls, WRAP(T, *, a, v)) \
   MAP(T, rsubs, WRAP(T, -, v, a)) \
   MAP(T, divs, QUOTIENT(T, a, v)) \
   MAP(T, rdivs, QUOTIENT(T, v, a)) \
   MAP(T, fmods, REST(a, v)) \
   MAP(T, remainders, MODULO(a, v)) \
   MAP(T, lshifts, SHIFTED(T, <<, a, v)) \
   MAP(T, rshifts, SHIFTED(T, >>, a, v)) \
   MAP(T, ands, a & v) \
   MAP(T, ors, a | v) \
   MAP(T, xors, a ^ v) \
   MAP(T, abs, a < 0 ? NEGATED(T, a) : a) \
   MAP(T, neg, NEGATED(T, a)) \
   PAIR(T, add, WRAP(T, +, a, WRAP(T, *, v, b))) \
   PAIR(T, mul, WRAP(T, *, a, b)) \
   PAIR(T, div, QUOTIENT(T, a, b)) \
   PAIR(T, fmod, REST(a, b)) \
   PAIR(T, remainder, MODULO(a, b)) \
   PAIR(T, lshift, SHIFTED(T, <<, a, b)) \
   PAIR(T, rshift, SHIFTED(T, >>, a, b)) \
   PAIR(T, and, a & b) \
   PAIR(T, or, a | b) \
   PAIR(T, xor, a ^ b) \
   PAIR(T, pow, (T##_c)to_i64(pow((double)a, (double)b)))
INTEGER_TYPES(INTEGER_KERNELS)

/* The remainder with the sign of the divisor; nan if the divisor is 0. */
#define FLOAT_MODULO(X, Y) ((Y) == 0 ? NAN : (X) - (Y) * floor((X) / (Y)))

/* Halves are rounded away from zero, as by round(). The number that is added is the greatest below 0.5: with 0.5
   itself, the greatest number below 0.5 would become 1. */
#define ROUNDED(T, X) trunc((X) + copysign((T##_c)(sizeof(T##_c) == 8 ? 0x1.fffffffffffffp-2 : 0x1.fffffep-2), X))

#define FLOAT_KERNELS(T) \
   MAP(T, adds, a + v) \
   MAP(T, muls, a * v) \
   MAP(T, divs, a / v) \
   MAP(T, rsubs, v - a) \
   MAP(T, rdivs, v / a) \
   MAP(T, remainders, FLOAT_MODULO(a, v)) \
   MAP(T, tpow, pow(v, a)) \
   MAP(T, lshifts, ldexp(a, to_i32(v))) \
   MAP(T, rshifts, ldexp(a, -to_i32(v))) \
   MAP(T, abs, fabs(a)) \
   MAP(T, neg, -a) \
   MAP(T, cinv, 1 / a) \
   MAP(T, sqrt, sqrt(a)) \
   MAP(T, rsqrt, 1 / sqrt(a)) \
   MAP(T, exp, exp(a)) \
   MAP(T, log, log(a)) \
   MAP(T, log1p, log1p(a)) \
   MAP(T, sin, sin(a)) \
   MAP(T, cos, cos(a)) \
   MAP(T, tan, tan(a)) \
   MAP(T, asin, asin(a)) \
   MAP(T, acos, acos(a)) \
   MAP(T, atan, atan(a)) \
   MAP(T, sinh, sinh(a)) \
   MAP(T, cosh, cosh(a)) \
   MAP(T, tanh, tanh(a)) \
   MAP(T, floor, floor(a)) \
   MAP(T, ceil, ceil(a)) \
   MAP(T, round, ROUNDED(T, a)) \
   MAP(T, trunc, trunc(a)) \
   MAP(T, frac, a - trunc(a)) \
   MAP(T, sigmoid, 1 / (1 + exp(-a))) \
   PAIR(T, add, a + v * b) \
   PAIR(T, mul, a * b) \
   PAIR(T, div, a / b) \
   PAIR(T, remainder, FLOAT_MODULO(a, b)) \
   PAIR(T, pow, pow(a, b)) \
   PAIR(T, lshift, ldexp(a, to_i32(b))) \
   PAIR(T, rshift, ldexp(a, -to_i32(b))) \
   PAIR(T, atan2, atan2(a, b)) \
   PAIR(T, lerp, a + v * (b - a))
FLOAT_TYPES(FLOAT_KERNELS)

/* As in Torch7, common exponents are computed by products and roots. */
#define POWERS(T) \
   MAP(T, copies, a) \
   MAP(T, squares, a * a) \
   MAP(T, cubes, a * a * a) \
   MAP(T, cinvsquares, 1 / (a * a)) \
   MAP(T, powers, pow(a, v)) \
   static void pows_##T(char *const *p, const ptrdiff_t *step, int64_t n, double v, double w) \
   { \
      const kernel f = v == 1 ? copies_##T : v == 2 ? squares_##T : v == 3 ? cubes_##T : v == 0.5 ? sqrt_##T : \
                       v == -0.5 ? rsqrt_##T : v == -1 ? cinv_##T : v == -2 ? cinvsquares_##T : powers_##T; \
      f(p, step, n, v, w); \
   }
FLOAT_TYPES(POWERS)

#define BODY3(T, EXPR) \
   const T##_c v = T##_from(v_); \
   const ptrdiff_t width = sizeof(T##_s); \
   (void)w_; \
   if (step[0] == width && step[1] == width && step[2] == width && step[3] == width) { \
      T##_s *r = (T##_s *)p[0]; \
      const T##_s *t = (const T##_s *)p[1], *x = (const T##_s *)p[2], *y = (const T##_s *)p[3]; \
      _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) { \
         const T##_c c = T##_load(t[i]), a = T##_load(x[i]), b = T##_load(y[i]); \
         r[i] = T##_store(EXPR); \
      } \
      return; \
   } \
   char *r = p[0]; \
   const char *t = p[1], *x = p[2], *y = p[3]; \
   for (; n > 0; n--, r += step[0], t += step[1], x += step[2], y += step[3]) { \
      const T##_c c = T##_load(*(const T##_s *)t), a = T##_load(*(const T##_s *)x), b = T##_load(*(const T##_s *)y); \
      *(T##_s *)r = T##_store(EXPR); \
   }
#define INTEGER_TRIPLES(T) \
   KERNEL(T, addcmul, BODY3(T, WRAP(T, +, c, WRAP(T, *, v, WRAP(T, *, a, b))))) \
   KERNEL(T, addcdiv, BODY3(T, WRAP(T, +, c, QUOTIENT(T, WRAP(T, *, v, a), b))))
#define FLOAT_TRIPLES(T) \
   KERNEL(T, addcmul, BODY3(T, c + v * a * b)) \
   KERNEL(T, addcdiv, BODY3(T, c + v * a / b))
INTEGER_TYPES(INTEGER_TRIPLES)
FLOAT_TYPES(FLOAT_TRIPLES)

/* Functions with a bend, and the gradients b that their backward passes let through. For a nan in a, softshrink gives
   0, softsign and elu give nan, cut gives w; inside and within let the gradient through. */
#define BENT_KERNELS(T) \
   MAP(T, threshold, a > v ? a : w) \
   MAP(T, softshrink, a > v ? a - v : a < -v ? a + v : 0) \
   MAP(T, softsign, a / (1 + fabs(a))) \
   MAP(T, cut, a < v ? v : a <= w ? a : w) \
   GATE(T, above, a > v ? b : w * b) \
   GATE(T, inside, a <= v || a >= w ? 0 : b) \
   GATE(T, within, a < v || a > w ? 0 : b) \
   GATE(T, mirrored, a >= 0 ? b : -b) \
   GATE(T, outside, a > v || a < -v ? b : 0) \
   GATE(T, softsignback, b / ((1 + fabs(a)) * (1 + fabs(a)))) \
   GATE(T, elu, a > 0 ? a : v * b) \
   GATE(T, eluback, a > 0 ? b : (a + v) * b) \
   GATE(T, softplus, a * v > w ? a : b / v) \
   GATE(T, softplusback, a > v ? b : a * b) \
   KERNEL(T, prelu, { \
      if (step[3] == 0) above_##T(p, step, n, v_, (double)T##_load(*(const T##_s *)p[3])); \
      else { BODY3(T, c > v ? a : b * a) } \
   })
FLOAT_TYPES(BENT_KERNELS)

/* cmax, cmin: if one operand is nan, the result is the second operand, as in Torch7. clamp keeps nan. */
#define ORDER_KERNELS(T) \
   MAP(T, cmaxs, a > v ? a : v) \
   MAP(T, cmins, a < v ? a : v) \
   MAP(T, clamp, a < v ? v : a > w ? w : a) \
   MAP(T, sign, a > 0 ? 1 : a < 0 ? -1 : 0) \
   PAIR(T, cmax, a > b ? a : b) \
   PAIR(T, cmin, a < b ? a : b)
ALL_TYPES(ORDER_KERNELS)

#define FILL_KERNEL(T) \
   KERNEL(T, fill, { \
      const T##_s v = T##_store(T##_from(v_)); \
      (void)w_; \
      char *r = p[0]; \
      if (step[0] == sizeof(T##_s)) for (int64_t i = 0; i < n; i++) ((T##_s *)r)[i] = v; \
      else for (; n > 0; n--, r += step[0]) *(T##_s *)r = v; \
   })
ALL_TYPES(FILL_KERNEL)

#define COMPARISON(T, NAME, OP) \
   KERNEL(T, NAME##s_byte, BODY1(T, u8, a OP v)) \
   KERNEL(T, NAME##s_same, BODY1(T, T, (T##_c)(a OP v))) \
   KERNEL(T, NAME##_byte, BODY2(T, u8, a OP b)) \
   KERNEL(T, NAME##_same, BODY2(T, T, (T##_c)(a OP b)))
#define COMPARISONS(T) \
   COMPARISON(T, lt, <) \
   COMPARISON(T, gt, >) \
   COMPARISON(T, le, <=) \
   COMPARISON(T, ge, >=) \
   COMPARISON(T, eq, ==) \
   COMPARISON(T, ne, !=)
ALL_TYPES(COMPARISONS)

static const kernel maps[BR_MAPS][BR_TYPES] = {
   [BR_ADDS] = PER_TYPE(adds),
   [BR_MULS] = PER_TYPE(muls),
   [BR_DIVS] = PER_TYPE(divs),
   [BR_FMODS] = PER_TYPE(fmods),
   [BR_REMAINDERS] = PER_TYPE(remainders),
   [BR_CMAXS] = PER_TYPE(cmaxs),
   [BR_CMINS] = PER_TYPE(cmins),
   [BR_CLAMP] = PER_TYPE(clamp),
   [BR_POWS] = PER_FLOAT(pows),
   [BR_TPOW] = PER_FLOAT(tpow),
   [BR_LSHIFTS] = PER_TYPE(lshifts),
   [BR_RSHIFTS] = PER_TYPE(rshifts),
   [BR_ANDS] = PER_INTEGER(ands),
   [BR_ORS] = PER_INTEGER(ors),
   [BR_XORS] = PER_INTEGER(xors),
   [BR_ABS] = PER_TYPE(abs),
   [BR_SIGN] = PER_TYPE(sign),
   [BR_RSUBS] = PER_TYPE(rsubs),
   [BR_RDIVS] = PER_TYPE(rdivs),
   [BR_NEG] = PER_TYPE(neg),
   [BR_CINV] = PER_FLOAT(cinv),
   [BR_SQRT] = PER_FLOAT(sqrt),
   [BR_RSQRT] = PER_FLOAT(rsqrt),
   [BR_EXP] = PER_FLOAT(exp),
   [BR_LOG] = PER_FLOAT(log),
   [BR_LOG1P] = PER_FLOAT(log1p),
   [BR_SIN] = PER_FLOAT(sin),
   [BR_COS] = PER_FLOAT(cos),
   [BR_TAN] = PER_FLOAT(tan),
   [BR_ASIN] = PER_FLOAT(asin),
   [BR_ACOS] = PER_FLOAT(acos),
   [BR_ATAN] = PER_FLOAT(atan),
   [BR_SINH] = PER_FLOAT(sinh),
   [BR_COSH] = PER_FLOAT(cosh),
   [BR_TANH] = PER_FLOAT(tanh),
   [BR_FLOOR] = PER_FLOAT(floor),
   [BR_CEIL] = PER_FLOAT(ceil),
   [BR_ROUND] = PER_FLOAT(round),
   [BR_TRUNC] = PER_FLOAT(trunc),
   [BR_FRAC] = PER_FLOAT(frac),
   [BR_SIGMOID] = PER_FLOAT(sigmoid),
   [BR_THRESHOLD] = PER_FLOAT(threshold),
   [BR_SOFTSHRINK] = PER_FLOAT(softshrink),
   [BR_SOFTSIGN] = PER_FLOAT(softsign),
   [BR_CUT] = PER_FLOAT(cut),
};
static const kernel pairs[BR_PAIRS][BR_TYPES] = {
   [BR_ADD] = PER_TYPE(add),
   [BR_MUL] = PER_TYPE(mul),
   [BR_DIV] = PER_TYPE(div),
   [BR_FMOD] = PER_TYPE(fmod),
   [BR_REMAINDER] = PER_TYPE(remainder),
   [BR_CMAX] = PER_TYPE(cmax),
   [BR_CMIN] = PER_TYPE(cmin),
   [BR_POW] = PER_TYPE(pow),
   [BR_LSHIFT] = PER_TYPE(lshift),
   [BR_RSHIFT] = PER_TYPE(rshift),
   [BR_AND] = PER_INTEGER(and),
   [BR_OR] = PER_INTEGER(or),
   [BR_XOR] = PER_INTEGER(xor),
   [BR_ATAN2] = PER_FLOAT(atan2),
   [BR_LERP] = PER_FLOAT(lerp),
};
static const kernel triples[BR_TRIPLES][BR_TYPES] = {
   [BR_ADDCMUL] = PER_TYPE(addcmul),
   [BR_ADDCDIV] = PER_TYPE(addcdiv),
   [BR_PRELU] = PER_FLOAT(prelu),
};
static const kernel gates[BR_GATES][BR_TYPES] = {
   [BR_ABOVE] = PER_FLOAT(above),
   [BR_INSIDE] = PER_FLOAT(inside),
   [BR_WITHIN] = PER_FLOAT(within),
   [BR_OUTSIDE] = PER_FLOAT(outside),
   [BR_MIRRORED] = PER_FLOAT(mirrored),
   [BR_SOFTSIGNBACK] = PER_FLOAT(softsignback),
   [BR_ELU] = PER_FLOAT(elu),
   [BR_ELUBACK] = PER_FLOAT(eluback),
   [BR_SOFTPLUS] = PER_FLOAT(softplus),
   [BR_SOFTPLUSBACK] = PER_FLOAT(softplusback),
};
#define COMPARED(NAME) {PER_TYPE(NAME##s_byte), PER_TYPE(NAME##s_same), PER_TYPE(NAME##_byte), PER_TYPE(NAME##_same)}
static const kernel comparisons[BR_COMPARISONS][4][BR_TYPES] = {
   [BR_LT] = COMPARED(lt),
   [BR_GT] = COMPARED(gt),
   [BR_LE] = COMPARED(le),
   [BR_GE] = COMPARED(ge),
   [BR_EQ] = COMPARED(eq),
   [BR_NE] = COMPARED(ne),
};

#endif
