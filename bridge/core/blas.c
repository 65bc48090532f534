#include "blas.h"

#include "element.h"
#include "walk.h"

/* A matrix: strides in elements. */
typedef struct matrix {
   char *data;
   int64_t rows, columns;
   ptrdiff_t down, right;
} matrix;

/* Three orders of the same loops, so that the innermost runs over neighbours: rows of b, columns of a, or dot products. */
#define PRODUCT(T) \
   static void scale_##T(const matrix *r, T##_c beta) \
   { \
      for (int64_t i = 0; i < r->rows; i++) { \
         T##_s *line = (T##_s *)r->data + i * r->down; \
         for (int64_t j = 0; j < r->columns; j++) { \
            T##_s *at = line + j * r->right; \
            *at = beta == 0 ? T##_store(0) : T##_store((T##_c)(T##_load(*at) * beta)); \
         } \
      } \
   } \
   static void axpy_##T(T##_s *r, ptrdiff_t rs, const T##_s *x, ptrdiff_t xs, int64_t n, T##_c v) \
   { \
      if (rs == 1 && xs == 1) { \
         _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) \
            r[i] = T##_store((T##_c)(T##_load(r[i]) + v * T##_load(x[i]))); \
         return; \
      } \
      for (int64_t i = 0; i < n; i++, r += rs, x += xs) *r = T##_store((T##_c)(T##_load(*r) + v * T##_load(*x))); \
   } \
   static T##_c dot_##T(const T##_s *x, ptrdiff_t xs, const T##_s *y, ptrdiff_t ys, int64_t n) \
   { \
      T##_c s[8] = {0}; \
      if (xs == 1 && ys == 1) \
         for (; n >= 8; n -= 8, x += 8, y += 8) \
            for (int k = 0; k < 8; k++) s[k] = (T##_c)(s[k] + T##_load(x[k]) * T##_load(y[k])); \
      for (; n > 0; n--, x += xs, y += ys) s[0] = (T##_c)(s[0] + T##_load(*x) * T##_load(*y)); \
      return (T##_c)((s[0] + s[1]) + (s[2] + s[3]) + (s[4] + s[5]) + (s[6] + s[7])); \
   } \
   static void product_##T(const matrix *r, const matrix *a, const matrix *b, double beta_, double alpha_) \
   { \
      T##_c beta = T##_from(beta_), alpha = T##_from(alpha_); \
      T##_s *out = (T##_s *)r->data; \
      const T##_s *x = (const T##_s *)a->data, *y = (const T##_s *)b->data; \
      if (beta != 1) scale_##T(r, beta); \
      if (b->right == 1 && r->right == 1 && b->columns > 1) { \
         for (int64_t i = 0; i < a->rows; i++) \
            for (int64_t k = 0; k < a->columns; k++) \
               axpy_##T(out + i * r->down, 1, y + k * b->down, 1, b->columns, \
                        (T##_c)(alpha * T##_load(x[i * a->down + k * a->right]))); \
      } else if (a->down == 1 && a->rows > 1) { \
         for (int64_t j = 0; j < b->columns; j++) \
            for (int64_t k = 0; k < a->columns; k++) \
               axpy_##T(out + j * r->right, r->down, x + k * a->right, 1, a->rows, \
                        (T##_c)(alpha * T##_load(y[k * b->down + j * b->right]))); \
      } else { \
         for (int64_t i = 0; i < a->rows; i++) \
            for (int64_t j = 0; j < b->columns; j++) { \
               T##_s *at = out + i * r->down + j * r->right; \
               *at = T##_store((T##_c)(T##_load(*at) + alpha * dot_##T(x + i * a->down, a->right, y + j * b->right, \
                                                                      b->down, a->columns))); \
            } \
      } \
   }
FLOAT_TYPES(PRODUCT)

/* Integers wrap; their products need no speed. */
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

static matrix of_matrix(const br_tensor *t)
{
   return (matrix){tensor_data(t), t->size[0], t->size[1], (ptrdiff_t)t->stride[0], (ptrdiff_t)t->stride[1]};
}
static matrix of_column(const br_tensor *t) { return (matrix){tensor_data(t), t->size[0], 1, (ptrdiff_t)t->stride[0], 1}; }
static matrix of_row(const br_tensor *t) { return (matrix){tensor_data(t), 1, t->size[0], 1, (ptrdiff_t)t->stride[0]}; }

static int multiply(br_tensor *r, const br_tensor *a, const br_tensor *b, matrix mr, matrix ma, matrix mb, double beta,
                    double alpha)
{
   if (r->dtype != a->dtype || r->dtype != b->dtype) return BR_TYPE;
   if (!br_tensor_covered(r) || !br_tensor_covered(a) || !br_tensor_covered(b)) return BR_GONE;
   if (mr.rows != ma.rows || mr.columns != mb.columns || ma.columns != mb.rows) return BR_COUNT;
   products[r->dtype](&mr, &ma, &mb, beta, alpha);
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
