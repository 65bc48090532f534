#include "loops/convolve.h"

#include "loops/parallel.h"
#include "tensors/element.h"
#include "tensors/walk.h"

/* Planes of `size` depth, height, width each. */
typedef struct volume {
   char *data;
   int64_t planes, size[3];
} volume;

typedef struct job {
   volume r, a, k;
   int full, reversed, each; /* each: plane i of r comes from plane i of a and of k */
   size_t width; /* bytes of an element */
   void (*plane)(const struct job *, int64_t to, int64_t from, int64_t kernel);
} job;

static int64_t plane_elements(const volume *v) { return v->size[0] * v->size[1] * v->size[2]; }

/* r = r + weight a, for one line. */
#define FLOAT_LINE(T) \
   static inline void line_##T(T##_s *r, const T##_s *a, T##_s weight, int64_t n) \
   { \
      T##_c w = T##_load(weight); \
      for (int64_t i = 0; i < n; i++) r[i] = T##_store(T##_load(r[i]) + w * T##_load(a[i])); \
   }
FLOAT_TYPES(FLOAT_LINE)

/* Integers wrap. */
#define INTEGER_LINE(T) \
   static inline void line_##T(T##_s *r, const T##_s *a, T##_s weight, int64_t n) \
   { \
      uint64_t w = (uint64_t)T##_load(weight); \
      for (int64_t i = 0; i < n; i++) \
         r[i] = T##_store((T##_c)((uint64_t)T##_load(r[i]) + w * (uint64_t)T##_load(a[i]))); \
   }
INTEGER_TYPES(INTEGER_LINE)

/* Apply every number of the kernel, from `weight` on, to COUNT numbers of a line of r while these are in registers. */
#define SUMS(T, COUNT) \
   static inline void sums##COUNT##_##T(const job *j, T##_s *r, const T##_s *a, const T##_s *weight, ptrdiff_t next) \
   { \
      const int64_t *as = j->a.size, *ks = j->k.size; \
      T##_c sum[COUNT]; \
      for (int i = 0; i < COUNT; i++) sum[i] = T##_load(r[i]); \
      for (int64_t kz = 0; kz < ks[0]; kz++) \
         for (int64_t ky = 0; ky < ks[1]; ky++) { \
            const T##_s *line = a + (kz * as[1] + ky) * as[2]; \
            for (int64_t kx = 0; kx < ks[2]; kx++, weight += next) { \
               const T##_c w = T##_load(*weight); \
               for (int i = 0; i < COUNT; i++) sum[i] += w * T##_load(line[kx + i]); \
            } \
         } \
      for (int i = 0; i < COUNT; i++) r[i] = T##_store(sum[i]); \
   }
/* Do so with as much of a line as possible. Returns how many numbers at its beginning are done. */
#define FLOAT_SUMS(T) \
   SUMS(T, 32) SUMS(T, 4) \
   static inline int64_t sums_##T(const job *j, T##_s *r, const T##_s *a, const T##_s *weight, ptrdiff_t next, \
                                  int64_t n) \
   { \
      int64_t x = 0; \
      for (; x + 32 <= n; x += 32) sums32_##T(j, r + x, a + x, weight, next); \
      for (; x + 4 <= n; x += 4) sums4_##T(j, r + x, a + x, weight, next); \
      return x; \
   }
FLOAT_TYPES(FLOAT_SUMS)

/* Line after line of r; each number of r adds up its products in the order of the kernel's numbers. SUMMED does the
   beginning of a line in a faster way and gives how many numbers it did. */
#define PLANE(T, SUMMED) \
   static WIDE void plane_##T(const job *j, int64_t to, int64_t from, int64_t kernel) \
   { \
      const int64_t *rs = j->r.size, *as = j->a.size, *ks = j->k.size; \
      T##_s *r = (T##_s *)j->r.data + to * plane_elements(&j->r); \
      const T##_s *a = (const T##_s *)j->a.data + from * plane_elements(&j->a); \
      const T##_s *k = (const T##_s *)j->k.data + kernel * plane_elements(&j->k); \
      const T##_s *first = j->reversed ? k + plane_elements(&j->k) - 1 : k; \
      const ptrdiff_t next = j->reversed ? -1 : 1; \
      for (int64_t rz = 0; rz < rs[0]; rz++) \
         for (int64_t ry = 0; ry < rs[1]; ry++, r += rs[2]) { \
            int64_t x = j->full ? 0 : SUMMED; \
            const T##_s *weight = first; \
            if (x == rs[2]) continue; \
            for (int64_t kz = 0; kz < ks[0]; kz++) \
               for (int64_t ky = 0; ky < ks[1]; ky++) { \
                  int64_t z = j->full ? rz - kz : rz + kz, y = j->full ? ry - ky : ry + ky; \
                  if (z < 0 || z >= as[0] || y < 0 || y >= as[1]) { \
                     weight += next * ks[2]; \
                     continue; \
                  } \
                  const T##_s *line = a + (z * as[1] + y) * as[2]; \
                  for (int64_t kx = 0; kx < ks[2]; kx++, weight += next) \
                     if (j->full) line_##T(r + kx, line, *weight, as[2]); \
                     else line_##T(r + x, line + kx + x, *weight, rs[2] - x); \
               } \
         } \
   }
#define INTEGER_PLANE(T) PLANE(T, 0)
#define FLOAT_PLANE(T) PLANE(T, sums_##T(j, r, a + (rz * as[1] + ry) * as[2], first, next, rs[2]))
INTEGER_TYPES(INTEGER_PLANE)
FLOAT_TYPES(FLOAT_PLANE)

static void (*const kinds[BR_TYPES])(const job *, int64_t, int64_t, int64_t) = PER_TYPE(plane);

static void planes(int64_t begin, int64_t end, void *context)
{
   const job *j = context;
   size_t bytes = (size_t)plane_elements(&j->r) * j->width;
   for (int64_t i = begin; i < end; i++) {
      memset(j->r.data + (size_t)i * bytes, 0, bytes);
      if (j->each) j->plane(j, i, i, i);
      else
         for (int64_t from = 0; from < j->a.planes; from++) j->plane(j, i, from, i * j->a.planes + from);
   }
}

static volume volume_of(const br_tensor *t)
{
   int64_t *size = t->size + t->nDimension - 3;
   return (volume){tensor_data(t), t->size[0], {size[0], size[1], size[2]}};
}

int br_convolve(br_tensor *r, const br_tensor *a, const br_tensor *k, int full, int reversed)
{
   if (r->dtype != a->dtype || r->dtype != k->dtype) return BR_TYPE;
   if (!br_tensor_covered(r) || !br_tensor_covered(a) || !br_tensor_covered(k)) return BR_GONE;
   if (r->nDimension != 4 || a->nDimension != 4 || (k->nDimension != 4 && k->nDimension != 5)) return BR_COUNT;
   job j = {volume_of(r), volume_of(a), volume_of(k), full, reversed, k->nDimension == 4,
            br_element_size(r->dtype), kinds[r->dtype]};
   for (int d = 0; d < 3; d++) {
      const volume *large = full ? &j.r : &j.a, *small = full ? &j.a : &j.r;
      if (large->size[d] != small->size[d] + j.k.size[d] - 1) return BR_COUNT;
   }
   if (j.k.planes != j.r.planes || (j.each ? j.a.planes != j.r.planes : k->size[1] != j.a.planes)) return BR_COUNT;
   const volume *small = full ? &j.a : &j.r;
   double work = (double)plane_elements(small) * plane_elements(&j.k) * (j.each ? 1 : j.a.planes);
   int64_t grain = work >= 32768 ? 1 : (int64_t)(32768 / work);
   br_parallel(j.r.planes, grain, planes, &j);
   return BR_OK;
}
