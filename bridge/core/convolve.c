#include "convolve.h"

#include "element.h"
#include "parallel.h"
#include "walk.h"

/* A block of planes of one plane's depth, height and width. */
typedef struct volume {
   char *data;
   int64_t planes, size[3];
} volume;

typedef struct job {
   volume r, a, k;
   int full, reversed, each; /* each: r's plane i comes of a's and k's plane i alone */
   size_t width; /* bytes of an element */
   void (*plane)(const struct job *, int64_t to, int64_t from, int64_t kernel);
} job;

static int64_t plane_elements(const volume *v) { return v->size[0] * v->size[1] * v->size[2]; }

/* One line of r takes one line of a times one number of k. */
#define FLOAT_LINE(T) \
   static void line_##T(T##_s *r, const T##_s *a, T##_s weight, int64_t n) \
   { \
      T##_c w = T##_load(weight); \
      for (int64_t i = 0; i < n; i++) r[i] = T##_store(T##_load(r[i]) + w * T##_load(a[i])); \
   }
FLOAT_TYPES(FLOAT_LINE)

/* Integers wrap. */
#define INTEGER_LINE(T) \
   static void line_##T(T##_s *r, const T##_s *a, T##_s weight, int64_t n) \
   { \
      uint64_t w = (uint64_t)T##_load(weight); \
      for (int64_t i = 0; i < n; i++) \
         r[i] = T##_store((T##_c)((uint64_t)T##_load(r[i]) + w * (uint64_t)T##_load(a[i]))); \
   }
INTEGER_TYPES(INTEGER_LINE)

/* Every number of the kernel, over the lines of the smaller of r and a. */
#define PLANE(T) \
   static void plane_##T(const job *j, int64_t to, int64_t from, int64_t kernel) \
   { \
      const int64_t *rs = j->r.size, *as = j->a.size, *ks = j->k.size, *small = j->full ? as : rs; \
      T##_s *r = (T##_s *)j->r.data + to * plane_elements(&j->r); \
      const T##_s *a = (const T##_s *)j->a.data + from * plane_elements(&j->a); \
      const T##_s *k = (const T##_s *)j->k.data + kernel * plane_elements(&j->k); \
      int64_t last = plane_elements(&j->k) - 1, at = 0; \
      for (int64_t kz = 0; kz < ks[0]; kz++) \
         for (int64_t ky = 0; ky < ks[1]; ky++) \
            for (int64_t kx = 0; kx < ks[2]; kx++, at++) { \
               T##_s weight = k[j->reversed ? last - at : at]; \
               for (int64_t z = 0; z < small[0]; z++) \
                  for (int64_t y = 0; y < small[1]; y++) { \
                     T##_s *line = r + (j->full ? ((z + kz) * rs[1] + y + ky) * rs[2] + kx : (z * rs[1] + y) * rs[2]); \
                     const T##_s *source = \
                        a + (j->full ? (z * as[1] + y) * as[2] : ((z + kz) * as[1] + y + ky) * as[2] + kx); \
                     line_##T(line, source, weight, small[2]); \
                  } \
            } \
   }
ALL_TYPES(PLANE)

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
