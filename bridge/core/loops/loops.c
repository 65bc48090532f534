#include "loops/loops.h"

#include <tgmath.h> /* expf for floats, exp for doubles */

#include "loops/parallel.h"
#include "loops/rest.h"
#include "tensors/element.h"
#include "tensors/walk.h"

#define GRAIN 32768 /* elements below which a second thread costs more than it gives */
#define ARRANGED 32 /* elements below which another order of the dimensions costs more than it gives */

double br_half_to_double(uint16_t half) { return plain_number(half_to_float(half)); }
double br_number(const void *at, int dtype)
{
   if (dtype == BR_FLOAT) return plain_number(*(const float *)at);
   return plain_number(*(const double *)at);
}
uint16_t br_half_from_double(double x) { return float_to_half((float)x); }

/* ---- running a kernel over up to four tensors; the first is the result */

typedef void (*kernel)(char *const *p, const ptrdiff_t *step, int64_t n, double v, double w);

typedef struct job {
   kernel f;
   int operands;
   const walk *walks;
   double v, w;
} job;

/* Of walks that have one run each. */
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

/* ---- kernels: elements next to each other in a loop that the compiler vectorises, others by their strides */

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
/* Division by zero was refused before the loop; the smallest integer by -1 must wrap, not trap. */
#define QUOTIENT(T, X, Y) ((Y) == -1 ? NEGATED(T, X) : (X) / (Y))
#define REST(X, Y) ((Y) == -1 ? 0 : (X) % (Y))
#define MODULO(X, Y) (REST(X, Y) && (REST(X, Y) < 0) != ((Y) < 0) ? REST(X, Y) + (Y) : REST(X, Y))
#define SHIFTED(T, OP, X, Y) ((Y) < 0 || (Y) >= (T##_c)(8 * sizeof(T##_s)) ? 0 : (T##_c)((T##_u)(X) OP (Y)))

#define INTEGER_KERNELS(T) \
   MAP(T, adds, WRAP(T, +, a, v)) MAP(T, muls, WRAP(T, *, a, v)) MAP(T, rsubs, WRAP(T, -, v, a)) \
   MAP(T, divs, QUOTIENT(T, a, v)) MAP(T, rdivs, QUOTIENT(T, v, a)) \
   MAP(T, fmods, REST(a, v)) MAP(T, remainders, MODULO(a, v)) \
   MAP(T, lshifts, SHIFTED(T, <<, a, v)) MAP(T, rshifts, SHIFTED(T, >>, a, v)) \
   MAP(T, ands, a & v) MAP(T, ors, a | v) MAP(T, xors, a ^ v) \
   MAP(T, abs, a < 0 ? NEGATED(T, a) : a) MAP(T, neg, NEGATED(T, a)) \
   PAIR(T, add, WRAP(T, +, a, WRAP(T, *, v, b))) PAIR(T, mul, WRAP(T, *, a, b)) PAIR(T, div, QUOTIENT(T, a, b)) \
   PAIR(T, fmod, REST(a, b)) PAIR(T, remainder, MODULO(a, b)) \
   PAIR(T, lshift, SHIFTED(T, <<, a, b)) PAIR(T, rshift, SHIFTED(T, >>, a, b)) \
   PAIR(T, and, a & b) PAIR(T, or, a | b) PAIR(T, xor, a ^ b) \
   PAIR(T, pow, (T##_c)to_i64(pow((double)a, (double)b)))
INTEGER_TYPES(INTEGER_KERNELS)

/* The divisor's sign; nan for a divisor of 0. */
#define FLOAT_MODULO(X, Y) ((Y) == 0 ? NAN : (X) - (Y) * floor((X) / (Y)))

/* Half away from zero, as round() gives: what is added is the greatest number below a half. */
#define ROUNDED(T, X) trunc((X) + copysign((T##_c)(sizeof(T##_c) == 8 ? 0x1.fffffffffffffp-2 : 0x1.fffffep-2), X))

#define FLOAT_KERNELS(T) \
   MAP(T, adds, a + v) MAP(T, muls, a * v) MAP(T, divs, a / v) MAP(T, rsubs, v - a) MAP(T, rdivs, v / a) \
   MAP(T, remainders, FLOAT_MODULO(a, v)) MAP(T, tpow, pow(v, a)) \
   MAP(T, lshifts, ldexp(a, to_i32(v))) MAP(T, rshifts, ldexp(a, -to_i32(v))) \
   MAP(T, abs, fabs(a)) MAP(T, neg, -a) MAP(T, cinv, 1 / a) MAP(T, sqrt, sqrt(a)) MAP(T, rsqrt, 1 / sqrt(a)) \
   MAP(T, exp, exp(a)) MAP(T, log, log(a)) MAP(T, log1p, log1p(a)) \
   MAP(T, sin, sin(a)) MAP(T, cos, cos(a)) MAP(T, tan, tan(a)) MAP(T, asin, asin(a)) MAP(T, acos, acos(a)) \
   MAP(T, atan, atan(a)) MAP(T, sinh, sinh(a)) MAP(T, cosh, cosh(a)) MAP(T, tanh, tanh(a)) \
   MAP(T, floor, floor(a)) MAP(T, ceil, ceil(a)) MAP(T, round, ROUNDED(T, a)) MAP(T, trunc, trunc(a)) \
   MAP(T, frac, a - trunc(a)) MAP(T, sigmoid, 1 / (1 + exp(-a))) \
   PAIR(T, add, a + v * b) PAIR(T, mul, a * b) PAIR(T, div, a / b) \
   PAIR(T, remainder, FLOAT_MODULO(a, b)) PAIR(T, pow, pow(a, b)) \
   PAIR(T, lshift, ldexp(a, to_i32(b))) PAIR(T, rshift, ldexp(a, -to_i32(b))) \
   PAIR(T, atan2, atan2(a, b)) PAIR(T, lerp, a + v * (b - a))
FLOAT_TYPES(FLOAT_KERNELS)

/* Some powers are what Torch7 makes them, products and roots. */
#define POWERS(T) \
   MAP(T, copies, a) MAP(T, squares, a * a) MAP(T, cubes, a * a * a) MAP(T, cinvsquares, 1 / (a * a)) \
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

/* Functions with a bend, and what passes them on the way back. softshrink has no nan, softsign and elu keep it, cut
   makes it w; inside and within let it pass. */
#define BENT_KERNELS(T) \
   MAP(T, threshold, a > v ? a : w) MAP(T, softshrink, a > v ? a - v : a < -v ? a + v : 0) \
   MAP(T, softsign, a / (1 + fabs(a))) MAP(T, cut, a < v ? v : a <= w ? a : w) \
   GATE(T, above, a > v ? b : w * b) GATE(T, inside, a <= v || a >= w ? 0 : b) \
   GATE(T, within, a < v || a > w ? 0 : b) GATE(T, mirrored, a >= 0 ? b : -b) \
   GATE(T, outside, a > v || a < -v ? b : 0) GATE(T, softsignback, b / ((1 + fabs(a)) * (1 + fabs(a)))) \
   GATE(T, elu, a > 0 ? a : v * b) GATE(T, eluback, a > 0 ? b : (a + v) * b) GATE(T, softplus, a * v > w ? a : b / v) \
   GATE(T, softplusback, a > v ? b : a * b) \
   KERNEL(T, prelu, { \
      if (step[3] == 0) above_##T(p, step, n, v_, (double)T##_load(*(const T##_s *)p[3])); \
      else { BODY3(T, c > v ? a : b * a) } \
   })
FLOAT_TYPES(BENT_KERNELS)

/* cmax, cmin: a comparison with nan goes to the second operand, as in Torch7. clamp keeps nan. */
#define ORDER_KERNELS(T) \
   MAP(T, cmaxs, a > v ? a : v) MAP(T, cmins, a < v ? a : v) \
   MAP(T, clamp, a < v ? v : a > w ? w : a) MAP(T, sign, a > 0 ? 1 : a < 0 ? -1 : 0) \
   PAIR(T, cmax, a > b ? a : b) PAIR(T, cmin, a < b ? a : b)
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
   KERNEL(T, NAME##s_byte, BODY1(T, u8, a OP v)) KERNEL(T, NAME##s_same, BODY1(T, T, (T##_c)(a OP v))) \
   KERNEL(T, NAME##_byte, BODY2(T, u8, a OP b)) KERNEL(T, NAME##_same, BODY2(T, T, (T##_c)(a OP b)))
#define COMPARISONS(T) \
   COMPARISON(T, lt, <) COMPARISON(T, gt, >) COMPARISON(T, le, <=) COMPARISON(T, ge, >=) \
   COMPARISON(T, eq, ==) COMPARISON(T, ne, !=)
ALL_TYPES(COMPARISONS)

static const kernel maps[BR_MAPS][BR_TYPES] = {
   [BR_ADDS] = PER_TYPE(adds), [BR_MULS] = PER_TYPE(muls), [BR_DIVS] = PER_TYPE(divs), [BR_FMODS] = PER_TYPE(fmods),
   [BR_REMAINDERS] = PER_TYPE(remainders), [BR_CMAXS] = PER_TYPE(cmaxs), [BR_CMINS] = PER_TYPE(cmins),
   [BR_CLAMP] = PER_TYPE(clamp), [BR_POWS] = PER_FLOAT(pows), [BR_TPOW] = PER_FLOAT(tpow),
   [BR_LSHIFTS] = PER_TYPE(lshifts), [BR_RSHIFTS] = PER_TYPE(rshifts), [BR_ANDS] = PER_INTEGER(ands),
   [BR_ORS] = PER_INTEGER(ors), [BR_XORS] = PER_INTEGER(xors), [BR_ABS] = PER_TYPE(abs), [BR_SIGN] = PER_TYPE(sign),
   [BR_RSUBS] = PER_TYPE(rsubs), [BR_RDIVS] = PER_TYPE(rdivs), [BR_NEG] = PER_TYPE(neg), [BR_CINV] = PER_FLOAT(cinv),
   [BR_SQRT] = PER_FLOAT(sqrt), [BR_RSQRT] = PER_FLOAT(rsqrt), [BR_EXP] = PER_FLOAT(exp), [BR_LOG] = PER_FLOAT(log),
   [BR_LOG1P] = PER_FLOAT(log1p), [BR_SIN] = PER_FLOAT(sin), [BR_COS] = PER_FLOAT(cos), [BR_TAN] = PER_FLOAT(tan),
   [BR_ASIN] = PER_FLOAT(asin), [BR_ACOS] = PER_FLOAT(acos), [BR_ATAN] = PER_FLOAT(atan), [BR_SINH] = PER_FLOAT(sinh),
   [BR_COSH] = PER_FLOAT(cosh), [BR_TANH] = PER_FLOAT(tanh), [BR_FLOOR] = PER_FLOAT(floor),
   [BR_CEIL] = PER_FLOAT(ceil), [BR_ROUND] = PER_FLOAT(round), [BR_TRUNC] = PER_FLOAT(trunc),
   [BR_FRAC] = PER_FLOAT(frac), [BR_SIGMOID] = PER_FLOAT(sigmoid),
   [BR_THRESHOLD] = PER_FLOAT(threshold), [BR_SOFTSHRINK] = PER_FLOAT(softshrink), [BR_SOFTSIGN] = PER_FLOAT(softsign),
   [BR_CUT] = PER_FLOAT(cut),
};
static const kernel pairs[BR_PAIRS][BR_TYPES] = {
   [BR_ADD] = PER_TYPE(add), [BR_MUL] = PER_TYPE(mul), [BR_DIV] = PER_TYPE(div), [BR_FMOD] = PER_TYPE(fmod),
   [BR_REMAINDER] = PER_TYPE(remainder), [BR_CMAX] = PER_TYPE(cmax), [BR_CMIN] = PER_TYPE(cmin),
   [BR_POW] = PER_TYPE(pow), [BR_LSHIFT] = PER_TYPE(lshift), [BR_RSHIFT] = PER_TYPE(rshift),
   [BR_AND] = PER_INTEGER(and), [BR_OR] = PER_INTEGER(or), [BR_XOR] = PER_INTEGER(xor),
   [BR_ATAN2] = PER_FLOAT(atan2), [BR_LERP] = PER_FLOAT(lerp),
};
static const kernel triples[BR_TRIPLES][BR_TYPES] = {
   [BR_ADDCMUL] = PER_TYPE(addcmul), [BR_ADDCDIV] = PER_TYPE(addcdiv), [BR_PRELU] = PER_FLOAT(prelu),
};
static const kernel gates[BR_GATES][BR_TYPES] = {
   [BR_ABOVE] = PER_FLOAT(above), [BR_INSIDE] = PER_FLOAT(inside), [BR_WITHIN] = PER_FLOAT(within),
   [BR_OUTSIDE] = PER_FLOAT(outside), [BR_MIRRORED] = PER_FLOAT(mirrored),
   [BR_SOFTSIGNBACK] = PER_FLOAT(softsignback), [BR_ELU] = PER_FLOAT(elu), [BR_ELUBACK] = PER_FLOAT(eluback),
   [BR_SOFTPLUS] = PER_FLOAT(softplus), [BR_SOFTPLUSBACK] = PER_FLOAT(softplusback),
};
#define COMPARED(NAME) {PER_TYPE(NAME##s_byte), PER_TYPE(NAME##s_same), PER_TYPE(NAME##_byte), PER_TYPE(NAME##_same)}
static const kernel comparisons[BR_COMPARISONS][4][BR_TYPES] = {
   [BR_LT] = COMPARED(lt), [BR_GT] = COMPARED(gt), [BR_LE] = COMPARED(le), [BR_GE] = COMPARED(ge),
   [BR_EQ] = COMPARED(eq), [BR_NE] = COMPARED(ne),
};

/* ---- entries */

static int is_integer(int dtype) { return dtype <= BR_LONG; }

/* An integer division by zero would trap: found before anything is written. */
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
