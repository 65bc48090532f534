#include "loops/blas.h"

#include "loops/parallel.h"
#include "tensors/element.h"
#include "tensors/walk.h"

#define GRAIN (1 << 20) /* multiplications below which a second thread costs more than it saves */
#define FEW 4       /* dot products computed at once: a single one would wait for its own additions */
#define LANES 8     /* partial sums of a dot product */

/* A matrix; `down` and `right` are its strides, in elements. */
typedef struct matrix {
   char *data;
   int64_t rows, columns;
   ptrdiff_t down, right;
} matrix;

/* The same loops in three orders, chosen so that the innermost one runs over contiguous elements: rows of b, columns of
   a, or dot products of a row of a and a column of b. A line of r is scaled just before it is added to. */
#define PRODUCT(T) \
   static inline void scale_##T(T##_s *at, ptrdiff_t step, int64_t n, T##_c beta) \
   { \
      for (; n > 0 && beta != 1; n--, at += step) \
         *at = beta == 0 ? T##_store(0) : T##_store((T##_c)(T##_load(*at) * beta)); \
   } \
   /* r = r + v x; with `fresh` r = v x, and r is not read. */ \
   static inline void axpy_##T(T##_s *r, ptrdiff_t rs, const T##_s *x, ptrdiff_t xs, int64_t n, T##_c v, int fresh) \
   { \
      if (rs == 1 && xs == 1 && fresh) \
         _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) r[i] = T##_store((T##_c)(0 + v * T##_load(x[i]))); \
      else if (rs == 1 && xs == 1) \
         _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) \
            r[i] = T##_store((T##_c)(T##_load(r[i]) + v * T##_load(x[i]))); \
      else \
         for (int64_t i = 0; i < n; i++, r += rs, x += xs) \
            *r = T##_store((T##_c)((fresh ? 0 : T##_load(*r)) + v * T##_load(*x))); \
   } \
   /* Dot products with y of `lines` (1 or FEW) lines that begin `apart` elements from each other, each in LANES \
      sums. */ \
   static inline void dots_##T(T##_c *sums, int lines, const T##_s *x, ptrdiff_t apart, ptrdiff_t xs, const T##_s *y, \
                               ptrdiff_t ys, int64_t n) \
   { \
      T##_c s[FEW][LANES] = {{0}}; \
      if (xs == 1 && ys == 1) \
         for (; n >= LANES; n -= LANES, x += LANES, y += LANES) \
            for (int l = 0; l < lines; l++) \
               for (int k = 0; k < LANES; k++) \
                  s[l][k] = (T##_c)(s[l][k] + T##_load(x[l * apart + k]) * T##_load(y[k])); \
      for (; n > 0; n--, x += xs, y += ys) \
         for (int l = 0; l < lines; l++) s[l][0] = (T##_c)(s[l][0] + T##_load(x[l * apart]) * T##_load(*y)); \
      for (int l = 0; l < lines; l++) \
         sums[l] = (T##_c)((s[l][0] + s[l][1]) + (s[l][2] + s[l][3]) + (s[l][4] + s[l][5]) + (s[l][6] + s[l][7])); \
   } \
   static WIDE void product_##T(const matrix *r, const matrix *a, const matrix *b, double beta_, double alpha_) \
   { \
      T##_c beta = T##_from(beta_), alpha = T##_from(alpha_); \
      T##_s *out = (T##_s *)r->data; \
      const T##_s *x = (const T##_s *)a->data, *y = (const T##_s *)b->data; \
      if (b->right == 1 && r->right == 1 && b->columns > 1) { \
         for (int64_t i = 0; i < a->rows; i++) { \
            if (beta != 0) scale_##T(out + i * r->down, 1, b->columns, beta); \
            for (int64_t k = 0; k < a->columns; k++) \
               axpy_##T(out + i * r->down, 1, y + k * b->down, 1, b->columns, \
                        (T##_c)(alpha * T##_load(x[i * a->down + k * a->right])), beta == 0 && k == 0); \
         } \
      } else if (a->down == 1 && a->rows > 1) { \
         for (int64_t j = 0; j < b->columns; j++) { \
            if (beta != 0) scale_##T(out + j * r->right, r->down, a->rows, beta); \
            for (int64_t k = 0; k < a->columns; k++) \
               axpy_##T(out + j * r->right, r->down, x + k * a->right, 1, a->rows, \
                        (T##_c)(alpha * T##_load(y[k * b->down + j * b->right])), beta == 0 && k == 0); \
         } \
      } else { \
         for (int64_t i = 0, lines; i < a->rows; i += lines) { \
            lines = a->rows - i < FEW ? 1 : FEW; \
            for (int64_t j = 0; j < b->columns; j++) { \
               T##_s *at = out + i * r->down + j * r->right; \
               T##_c sums[FEW]; \
               if (lines == FEW) \
                  dots_##T(sums, FEW, x + i * a->down, a->down, a->right, y + j * b->right, b->down, a->columns); \
               else dots_##T(sums, 1, x + i * a->down, a->down, a->right, y + j * b->right, b->down, a->columns); \
               scale_##T(at, r->down, lines, beta); \
               for (int l = 0; l < lines; l++) \
                  at[l * r->down] = T##_store((T##_c)(T##_load(at[l * r->down]) + alpha * sums[l])); \
            } \
         } \
      } \
   }
FLOAT_TYPES(PRODUCT)

/* Integers wrap. Plain loops: large products of integers are rare. */
#define INTEGER_PRODUCT(T) \
   static void product_##T(const matrix *r, const matrix *a, const matrix *b, double beta_, double alpha_) \
   { \
      uint64_t beta = (uint64_t)T##_from(beta_), alpha = (uint64_t)T##_from(alpha_); \
      for (int64_t i = 0; i < a->rows; i++) \
         for (int64_t j = 0; j < b->columns; j++) { \
            T##_s *at = (T##_s *)r->data + i * r->down + j * r->right; \
            const T##_s *x = (const T##_s *)a->data + i * a->down, *y = (const T##_s *)b->data + j * b->right; \
            uint64_t s = 0; \
            for (int64_t k = 0; k < a->columns; k++, x += a->right, y += b->down) \
               s += (uint64_t)T##_load(*x) * (uint64_t)T##_load(*y); \
            *at = T##_store((T##_c)((beta ? beta * (uint64_t)T##_load(*at) : 0) + alpha * s)); \
         } \
   }
INTEGER_TYPES(INTEGER_PRODUCT)

static void (*const products[BR_TYPES])(const matrix *, const matrix *, const matrix *, double, double) =
   PER_TYPE(product);

typedef struct job {
   matrix r, a, b;
   double beta, alpha;
   int dtype;
} job;

static void rows(int64_t begin, int64_t end, void *context)
{
   const job *j = context;
   matrix r = j->r, a = j->a;
   ptrdiff_t width = (ptrdiff_t)br_element_size(j->dtype);
   r.data += begin * r.down * width;
   a.data += begin * a.down * width;
   r.rows = a.rows = end - begin;
   products[j->dtype](&r, &a, &j->b, j->beta, j->alpha);
}

static matrix of_matrix(const br_tensor *t)
{
   return (matrix){tensor_data(t), t->size[0], t->size[1], (ptrdiff_t)t->stride[0], (ptrdiff_t)t->stride[1]};
}
static matrix of_column(const br_tensor *t) {
   return (matrix){tensor_data(t), t->size[0], 1, (ptrdiff_t)t->stride[0], 1};
}
static matrix of_row(const br_tensor *t) { return (matrix){tensor_data(t), 1, t->size[0], 1, (ptrdiff_t)t->stride[0]}; }

static int multiply(br_tensor *r, const br_tensor *a, const br_tensor *b, matrix mr, matrix ma, matrix mb, double beta,
                    double alpha)
{
   if (r->dtype != a->dtype || r->dtype != b->dtype) return BR_TYPE;
   if (!br_tensor_covered(r) || !br_tensor_covered(a) || !br_tensor_covered(b)) return BR_GONE;
   if (mr.rows != ma.rows || mr.columns != mb.columns || ma.columns != mb.rows) return BR_COUNT;
   job j = {mr, ma, mb, beta, alpha, r->dtype};
   int64_t work = ma.columns * mb.columns;
   br_parallel(ma.rows, work < GRAIN ? GRAIN / (work + 1) : 1, rows, &j);
   return BR_OK;
}

int br_addmm(br_tensor *r, const br_tensor *a, const br_tensor *b, double beta, double alpha)
{
   if (r->nDimension != 2 || a->nDimension != 2 || b->nDimension != 2) return BR_COUNT;
   return multiply(r, a, b, of_matrix(r), of_matrix(a), of_matrix(b), beta, alpha);
}

int br_addmv(br_tensor *r, const br_tensor *a, const br_tensor *x, double beta, double alpha)
{
   if (r->nDimension != 1 || a->nDimension != 2 || x->nDimension != 1) return BR_COUNT;
   return multiply(r, a, x, of_column(r), of_matrix(a), of_column(x), beta, alpha);
}

int br_addr(br_tensor *r, const br_tensor *x, const br_tensor *y, double beta, double alpha)
{
   if (r->nDimension != 2 || x->nDimension != 1 || y->nDimension != 1) return BR_COUNT;
   return multiply(r, x, y, of_matrix(r), of_column(x), of_row(y), beta, alpha);
}
