#include "loops/max_pooling.h"

#include "loops/loops.h"
#include "loops/parallel.h"
#include "tensors/element.h"
#include "tensors/walk.h"

#define BLOCK 256   /* outputs of a line that are computed together */
#define WORK 32768  /* comparisons below which a second thread costs more than it saves */

typedef struct job {
   const br_windows *w;
   const char *from;
   char *to;
   int64_t *indices;
   int outside; /* atomic */
} job;

static int contiguous(const br_tensor *t)
{
   int64_t below = 1;
   for (int d = t->nDimension - 1; d >= 0; d--) {
      if (t->size[d] != 1 && t->stride[d] != below) return 0;
      below *= t->size[d];
   }
   return br_tensor_covered(t);
}

static int64_t volume(const int64_t *size) { return size[0] * size[1] * size[2]; }

static int described(const br_windows *w)
{
   if (w->planes < 0) return 0;
   for (int d = 0; d < 3; d++) {
      if (w->from[d] < 1 || w->to[d] < 1 || w->kernel[d] < 1 || w->stride[d] < 1 || w->dilation[d] < 1) return 0;
      if (w->padding[d] < 0) return 0;
   }
   return 1;
}

/* A tap is one element of a window along an axis. The first tap of window i along axis d that lies inside the plane;
   kernel[d] if none does. */
static int64_t first_tap(const br_windows *w, int d, int64_t i)
{
   int64_t start = i * w->stride[d] - w->padding[d], step = w->dilation[d],
           tap = start < 0 ? (step - 1 - start) / step : 0;
   return tap < w->kernel[d] && start + tap * step < w->from[d] ? tap : w->kernel[d];
}

/* Where window i begins along axis d; negative in the padding. */
static int64_t start_of(const br_windows *w, int d, int64_t i) { return i * w->stride[d] - w->padding[d]; }

/* Of the `count` outputs from `begin` on, those whose window has this tap inside the plane: lo .. hi - 1, counted from
   `begin`. */
static void inside(const br_windows *w, int64_t tap, int64_t begin, int64_t count, int64_t *lo, int64_t *hi)
{
   int64_t stride = w->stride[2], start = start_of(w, 2, begin) + tap * w->dilation[2], end = w->from[2] - start;
   *lo = start < 0 ? (stride - 1 - start) / stride : 0;
   *hi = end <= 0 ? 0 : end > (count - 1) * stride ? count : (end + stride - 1) / stride;
}

/* Compare the greatest element so far of every window with one more tap; `at` is its position for the first window. A
   nan wins, as in torch. */
#define TAKE(T, STRIDE) \
   _Pragma("GCC ivdep") for (int64_t i = 0; i < n; i++) { \
      const T##_c a = T##_load(x[i * (STRIDE)]); \
      const int wins = a > best[i] || a != a; \
      best[i] = wins ? a : best[i]; \
      place[i] = wins ? at + (int32_t)(i * (STRIDE)) : place[i]; \
   }
#define POOL(T) \
   static void take_##T(T##_c *best, int32_t *place, const T##_s *x, int64_t n, int64_t stride, int32_t at) \
   { \
      if (stride == 1) TAKE(T, 1) \
      else if (stride == 2) TAKE(T, 2) \
      else TAKE(T, stride) \
   } \
   /* The outputs begin .. begin + count - 1 of line (z, y) of an output plane. */ \
   static void block_##T(const br_windows *w, const T##_s *plane, T##_s *out, int64_t *indices, int64_t z, int64_t y, \
                         int64_t begin, int64_t count) \
   { \
      T##_c best[BLOCK]; \
      int32_t place[BLOCK]; \
      const int64_t z0 = start_of(w, 0, z), y0 = start_of(w, 1, y), zt = first_tap(w, 0, z), yt = first_tap(w, 1, y); \
      const int none = zt == w->kernel[0] || yt == w->kernel[1]; \
      const int64_t corner = ((z0 + zt * w->dilation[0]) * w->from[1] + y0 + yt * w->dilation[1]) * w->from[2]; \
      for (int64_t i = 0; i < count; i++) { \
         const int64_t tap = first_tap(w, 2, begin + i); \
         best[i] = -INFINITY; \
         const int64_t at = corner + start_of(w, 2, begin + i) + tap * w->dilation[2]; \
         place[i] = none || tap == w->kernel[2] ? -1 : (int32_t)at; \
      } \
      for (int64_t kz = zt; kz < w->kernel[0] && z0 + kz * w->dilation[0] < w->from[0]; kz++) \
         for (int64_t ky = yt; ky < w->kernel[1] && y0 + ky * w->dilation[1] < w->from[1]; ky++) { \
            const int64_t line = ((z0 + kz * w->dilation[0]) * w->from[1] + y0 + ky * w->dilation[1]) * w->from[2]; \
            for (int64_t kx = 0; kx < w->kernel[2]; kx++) { \
               int64_t lo, hi; \
               inside(w, kx, begin, count, &lo, &hi); \
               const int64_t at = line + start_of(w, 2, begin + lo) + kx * w->dilation[2]; \
               if (lo < hi) take_##T(best + lo, place + lo, plane + at, hi - lo, w->stride[2], (int32_t)at); \
            } \
         } \
      for (int64_t i = 0; i < count; i++) out[i] = T##_store(best[i]); \
      for (int64_t i = 0; i < count; i++) indices[i] = (int64_t)place[i] + 1; \
   } \
   static void pool_##T(int64_t first, int64_t last, void *context) \
   { \
      const job *j = context; \
      const br_windows *w = j->w; \
      const int64_t m = volume(w->from), n = volume(w->to), *to = w->to; \
      for (int64_t p = first; p < last; p++) \
         for (int64_t line = 0; line < to[0] * to[1]; line++) \
            for (int64_t i = 0; i < to[2]; i += BLOCK) { \
               const int64_t at = p * n + line * to[2] + i; \
               block_##T(w, (const T##_s *)j->from + p * m, (T##_s *)j->to + at, j->indices + at, line / to[1], \
                         line % to[1], i, to[2] - i < BLOCK ? to[2] - i : BLOCK); \
            } \
   } \
   static void back_##T(int64_t first, int64_t last, void *context) \
   { \
      job *j = context; \
      const int64_t m = volume(j->w->from), n = volume(j->w->to); \
      for (int64_t p = first; p < last; p++) { \
         T##_s *to = (T##_s *)j->to + p * m; \
         const T##_s *from = (const T##_s *)j->from + p * n; \
         const int64_t *indices = j->indices + p * n; \
         int outside = 0; \
         memset(to, 0, (size_t)m * sizeof *to); \
         for (int64_t i = 0; i < n; i++) { \
            const int64_t at = indices[i] - 1; \
            if ((uint64_t)at < (uint64_t)m) to[at] = T##_store(T##_load(to[at]) + T##_load(from[i])); \
            else outside |= at != -1; /* 0: a window without elements */ \
         } \
         if (outside) __atomic_store_n(&j->outside, 1, __ATOMIC_RELAXED); \
      } \
   }
FLOAT_TYPES(POOL)

typedef void (*part)(int64_t first, int64_t last, void *context);

static void run(part f, job *j, int64_t work)
{
   int64_t planes = j->w->planes, grain = work >= WORK ? 1 : WORK / work;
   br_parallel(planes, grain, f, j);
}

/* Do the tensors have the types and sizes that w describes? A BR_ code. */
static int fits(const br_tensor *large, const br_tensor *small, const br_tensor *indices, const br_windows *w)
{
   if (large->dtype != small->dtype || indices->dtype != BR_LONG) return BR_TYPE;
   if (!described(w) || volume(w->from) > INT32_MAX) return BR_VALUE;
   int64_t outputs = w->planes * volume(w->to);
   if (tensor_elements(large) != w->planes * volume(w->from)) return BR_COUNT;
   if (tensor_elements(small) != outputs || tensor_elements(indices) != outputs) return BR_COUNT;
   return contiguous(large) && contiguous(small) && contiguous(indices) ? BR_OK : BR_GONE;
}

int br_max_pool(br_tensor *output, br_tensor *indices, const br_tensor *input, const br_windows *w)
{
   static const part pools[BR_TYPES] = PER_FLOAT(pool);
   int code = fits(input, output, indices, w);
   if (code != BR_OK || !pools[input->dtype]) return code ? code : BR_TYPE;
   job j = {.w = w, .from = tensor_data(input), .to = tensor_data(output), .indices = (int64_t *)tensor_data(indices)};
   run(pools[input->dtype], &j, volume(w->to) * volume(w->kernel));
   return BR_OK;
}

int br_max_pool_back(br_tensor *gradInput, const br_tensor *gradOutput, const br_tensor *indices, const br_windows *w)
{
   static const part backs[BR_TYPES] = PER_FLOAT(back);
   int code = fits(gradInput, gradOutput, indices, w);
   if (code != BR_OK || !backs[gradInput->dtype]) return code ? code : BR_TYPE;
   job j = {.w = w, .from = tensor_data(gradOutput), .to = tensor_data(gradInput),
            .indices = (int64_t *)tensor_data(indices)};
   run(backs[gradInput->dtype], &j, volume(w->from) + volume(w->to));
   return j.outside ? BR_INDEX : BR_OK;
}
