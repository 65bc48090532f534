#define _GNU_SOURCE
#include "tensors/aten.h"
#include "tensors/device.h"
#include "tensors/symbols.h"
#include "tensors/walk.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define BUILT_FOR ((uint64_t)2 << 56 | (uint64_t)10 << 48) /* the oldest torch whose conventions this file follows */
#define MOST 24                                             /* arguments of one call */

/* Calls with fewer elements in each tensor, and matrix products of fewer multiplications, run in one thread. By
   themselves MKL and some of torch's operators divide even a microsecond's work among threads, and then wait for
   milliseconds if one of these threads gets no core to run on. */
#define ELEMENTS 32768
#define MULTIPLICATIONS (1 << 20)

typedef void *handle;

static struct shim {
   int32_t (*new_tensor_handle)(handle, handle *);
   int32_t (*delete_tensor_object)(handle);
   int32_t (*copy)(handle, handle, int32_t);
   int32_t (*call_dispatcher)(const char *, const char *, uint64_t *, uint64_t);
   int32_t (*new_list)(size_t, handle *);
   int32_t (*list_push_back)(handle, uint64_t);
   int32_t (*delete_list)(handle);
   int32_t (*new_string)(const char *, size_t, handle *);
   int32_t (*delete_string)(handle);
   int32_t (*view_dtype)(handle, int32_t, handle *);
   int32_t (*bool_dtype)(void);
   int32_t (*addmm)(handle, handle, handle, handle, double, double);
   int32_t (*baddbmm)(handle, handle, handle, handle, double, double);
   int32_t (*new_box)(uint64_t **); /* makes room for an optional argument, which torch deletes */
   void *(*allocate)(size_t);       /* before torch 2.13, which has no new_box: C++'s operator new */
   /* The rest may be missing. */
   int32_t (*get_threads)(uint32_t *); /* torch's number of threads; a thread's first call gives it to OpenMP too */
   int (*omp_get_threads)(void);       /* how many threads OpenMP uses for the work of this thread */
   void (*omp_set_threads)(int);
   int (*mkl_set_threads)(int);        /* the same for MKL; returns the number before, 0: MKL's for all threads */
} shim;

static struct {
   int32_t (*addmm)(handle, handle, handle, handle, double, double);
   int32_t (*baddbmm)(handle, handle, handle, handle, double, double);
} cuda;

const char *br_aten_load(const char *path)
{
   static const br_symbol symbols[] = {
      {"aoti_torch_new_tensor_handle", offsetof(struct shim, new_tensor_handle)},
      {"aoti_torch_delete_tensor_object", offsetof(struct shim, delete_tensor_object)},
      {"aoti_torch_copy_", offsetof(struct shim, copy)},
      {"torch_call_dispatcher", offsetof(struct shim, call_dispatcher)},
      {"torch_new_list_reserve_size", offsetof(struct shim, new_list)},
      {"torch_list_push_back", offsetof(struct shim, list_push_back)},
      {"torch_delete_list", offsetof(struct shim, delete_list)},
      {"torch_new_string_handle", offsetof(struct shim, new_string)},
      {"torch_delete_string", offsetof(struct shim, delete_string)},
      {"aoti_torch_view_dtype", offsetof(struct shim, view_dtype)},
      {"aoti_torch_dtype_bool", offsetof(struct shim, bool_dtype)},
      {"aoti_torch_cpu_addmm_out", offsetof(struct shim, addmm)},
      {"aoti_torch_cpu_baddbmm_out", offsetof(struct shim, baddbmm)},
   };
   void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
   if (!library) return path;
   struct shim found = {0};
   const char *missing = br_symbols(library, symbols, sizeof symbols / sizeof *symbols, &found);
   if (missing) return missing;
   static const br_symbol optional[] = {
      {"torch_new_stable_ivalue", offsetof(struct shim, new_box)},
      {"torch_get_num_threads", offsetof(struct shim, get_threads)},
      {"omp_get_max_threads", offsetof(struct shim, omp_get_threads)},
      {"omp_set_num_threads", offsetof(struct shim, omp_set_threads)},
      {"MKL_Set_Num_Threads_Local", offsetof(struct shim, mkl_set_threads)},
   };
   br_symbols(library, optional, sizeof optional / sizeof *optional, &found);
   if (!found.new_box) {
      /* A program may have replaced C++'s operators new and delete. torch deletes the room with the delete that the
         dynamic linker finds first, so the new must be the one that it finds first, too. */
      void *f = dlsym(RTLD_DEFAULT, "_Znwm");
      if (!f && !(f = dlsym(library, "_Znwm"))) return "_Znwm";
      memcpy(&found.allocate, &f, sizeof f);
   }
   static const br_symbol what = {"torch_exception_get_what_without_backtrace", offsetof(br_shim, what)};
   br_symbols(library, &what, 1, &br_torch); /* may be missing */
   shim = found;
   return NULL;
}

const char *br_aten_load_cuda(const char *path)
{
   static const char *const names[] = {"aoti_torch_cuda_addmm_out", "aoti_torch_cuda_baddbmm_out"};
   void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL), *found[2];
   if (!library) return path;
   for (int i = 0; i < 2; i++)
      if (!(found[i] = dlsym(library, names[i]))) return names[i];
   memcpy(&cuda.addmm, &found[0], sizeof found[0]);
   memcpy(&cuda.baddbmm, &found[1], sizeof found[1]);
   return NULL;
}

/* The numbers of threads before `use_one_thread`. omp is 0 if that changed nothing, mkl if MKL used its number for all
   threads. */
typedef struct { int omp, mkl; } thread_counts;

/* If the work is small, let OpenMP and MKL use this thread only, until `use_threads` sets their numbers back. */
static thread_counts use_one_thread(int small)
{
   static _Thread_local int known;
   thread_counts before = {0, 0};
   if (!small || !shim.get_threads || !shim.omp_get_threads || !shim.omp_set_threads) return before;
   if (!known) {
      uint32_t threads;
      shim.get_threads(&threads); /* else torch would set its number in the middle of the call */
      known = 1;
   }
   int threads = shim.omp_get_threads();
   if (threads > 1) {
      before.omp = threads;
      shim.omp_set_threads(1);
      if (shim.mkl_set_threads) before.mkl = shim.mkl_set_threads(1);
   }
   return before;
}

static void use_threads(thread_counts before)
{
   if (!before.omp) return;
   shim.omp_set_threads(before.omp);
   if (shim.mkl_set_threads) shim.mkl_set_threads(before.mkl);
}

/* A handle of t that the call may delete; a tensor without memory goes where the one `beside` it is. */
static handle new_handle(br_tensor *t, const br_tensor *beside)
{
   handle h = br_tensor_handle_beside(t, beside), made = NULL;
   if (h && shim.new_tensor_handle(h, &made)) made = NULL;
   return made;
}

/* Room for the value of an optional argument, which the call deletes. NULL: out of memory. */
static uint64_t *new_optional(uint64_t value)
{
   uint64_t *made = NULL;
   if (!shim.new_box) made = shim.allocate(sizeof *made);
   else if (shim.new_box(&made)) return NULL;
   *made = value;
   return made;
}

static uint64_t bits(double x)
{
   uint64_t b;
   memcpy(&b, &x, sizeof b);
   return b;
}

/* Convert one argument to the value that torch's dispatcher takes. Returns how many entries of `a` it used, or 0 if
   torch refused it. `beside`: the tensor whose element type a number gets, and on whose device a tensor without memory
   goes. */
static int convert(char kind, const br_argument *a, const br_tensor *beside, uint64_t *value)
{
   handle made;
   switch (kind) {
   case 's': return shim.new_string(a->string, strlen(a->string), (handle *)value) == 0;
   case 'M':
      if (!br_tensor_handle(a->tensor) || shim.view_dtype(br_tensor_handle(a->tensor), shim.bool_dtype(), &made))
         return 0;
      *value = (uint64_t)(uintptr_t)made;
      return 1;
   case 'T': return (*value = (uint64_t)(uintptr_t)new_handle(a->tensor, beside)) != 0;
   case 'S': return beside && (*value = (uint64_t)(uintptr_t)br_device_scalar(beside, a->number)) != 0;
   case 'i': *value = (uint64_t)a->integer; return 1;
   case 'f': *value = bits(a->number); return 1;
   case 'b': *value = a->integer != 0; return 1;
   case 'I':
      if (shim.new_list((size_t)a[1].integer, &made)) return 0;
      for (int64_t i = 0; i < a[1].integer; i++) shim.list_push_back(made, (uint64_t)a[0].list[i]);
      *value = (uint64_t)(uintptr_t)made;
      return 2;
   default: return 0;
   }
}

/* The first tensor among the arguments that has memory, or NULL. */
static const br_tensor *first_tensor(const char *kinds, const br_argument *a)
{
   for (; *kinds; kinds++) {
      if ((*kinds == 'T' || *kinds == 'M') && a->tensor->storage) return a->tensor;
      if (*kinds != '?') a += *kinds == 'I' ? 2 : 1;
   }
   return NULL;
}

/* Delete the value of an argument that was converted but not handed to torch. */
static void delete_argument(char kind, uint64_t value)
{
   handle made = (handle)(uintptr_t)value;
   if (strchr("TMS", kind)) shim.delete_tensor_object(made);
   else if (kind == 'I') shim.delete_list(made);
   else if (kind == 's') shim.delete_string(made);
}

/* Call an operator. 0: its results are in `stack`, as handles that the caller has to delete. */
static int dispatch(const char *name, const char *overload, const char *kinds, const br_argument *arguments,
                    uint64_t stack[MOST])
{
   char made[MOST], optional[MOST];
   int n = 0, places = 0, small = 1; /* places: 1 the CPU, 2 the device, 3 both */
   if (!shim.call_dispatcher) return br_torch_failed("torch is not loaded");
   const br_argument *first = arguments;
   for (const char *k = kinds; *k; k++, n++) {
      int boxed = *k == '?';
      if (boxed) k++;
      if (n == MOST) return br_torch_failed("too many arguments");
      made[n] = *k;
      optional[n] = (char)boxed;
      if (*k == 'n') {
         stack[n] = 0;
         arguments++;
         continue;
      }
      if (*k == 'T' || *k == 'M') places |= arguments->tensor->dtype & BR_DEVICE ? 2 : 1;
      int used = 0, is_placed = *k != 'S' && (*k != 'T' || arguments->tensor->storage);
      const br_tensor *beside = is_placed ? NULL : first_tensor(kinds, first);
      if (places != 3) used = convert(*k, arguments, beside, &stack[n]);
      if (!used) {
         br_torch_failed(places == 3 ? "some of the tensors are on the device, others on the CPU" : NULL);
         while (n-- > 0) delete_argument(made[n], stack[n]);
         return -1;
      }
      if (*k == 'T' && tensor_elements(arguments->tensor) >= ELEMENTS) small = 0;
      arguments += used;
   }
   for (int i = 0; i < n; i++) {
      if (!optional[i] || made[i] == 'n') continue;
      uint64_t *boxed = new_optional(stack[i]);
      if (!boxed) {
         br_torch_failed("out of memory");
         for (; i < n; i++) delete_argument(made[i], stack[i]);
         return -1;
      }
      stack[i] = (uint64_t)(uintptr_t)boxed;
   }
   thread_counts before = use_one_thread(small);
   int32_t rc = shim.call_dispatcher(name, overload, stack, BUILT_FOR);
   use_threads(before);
   return rc ? br_torch_failed(NULL) : 0;
}

int br_aten_call(const char *name, const char *overload, const char *kinds, const br_argument *arguments, int results)
{
   OUTERMOST();
   uint64_t stack[MOST];
   if (dispatch(name, overload, kinds, arguments, stack)) return -1;
   for (int i = 0; i < results; i++) shim.delete_tensor_object((handle)(uintptr_t)stack[i]);
   return 0;
}

int br_aten_call_into(const char *name, const char *overload, const char *kinds, const br_argument *arguments,
                      int results, br_tensor *const *into)
{
   OUTERMOST();
   uint64_t stack[MOST];
   int rc = 0;
   if (dispatch(name, overload, kinds, arguments, stack)) return -1;
   for (int i = 0; i < results; i++) {
      handle result = (handle)(uintptr_t)stack[i], wanted = !rc && into[i] ? br_tensor_handle(into[i]) : NULL;
      if (into[i] && !rc && (!wanted || shim.copy(wanted, result, 0))) rc = br_torch_failed(NULL);
      shim.delete_tensor_object(result);
   }
   return rc;
}

int br_aten_matmul(br_tensor *r, br_tensor *m, br_tensor *a, br_tensor *b, double beta, double alpha)
{
   OUTERMOST();
   if (!shim.addmm) return br_torch_failed("torch is not loaded");
   handle hr = br_tensor_handle(r), hm = br_tensor_handle(m), ha = br_tensor_handle(a), hb = br_tensor_handle(b);
   if (!hr || !hm || !ha || !hb) return br_torch_failed(NULL);
   /* on: 0 for the CPU, 2 for a GPU, BR_DEVICE for the CPU as the device */
   int on = a->dtype & BR_DEVICE, batches = a->nDimension == 3;
   if ((r->dtype & BR_DEVICE) != on || (m->dtype & BR_DEVICE) != on || (b->dtype & BR_DEVICE) != on)
      return br_torch_failed("some of the matrices are on the device, others on the CPU");
   if (on && !br_device_hidden(ha)) on = 2;
   thread_counts before = use_one_thread(!on && tensor_elements(r) * a->size[a->nDimension - 1] < MULTIPLICATIONS);
   int32_t rc = (on == 2 ? batches ? cuda.baddbmm : cuda.addmm : batches ? shim.baddbmm : shim.addmm)(hr, hm, ha, hb,
                                                                                                    beta, alpha);
   use_threads(before);
   return rc ? br_torch_failed(NULL) : 0;
}

int br_aten_copy(br_tensor *r, br_tensor *a)
{
   OUTERMOST();
   handle to = br_tensor_handle(r), from = to ? br_tensor_handle(a) : NULL;
   if (!from) return -1;
   return shim.copy(to, from, 0) ? br_torch_failed(NULL) : 0;
}

int br_aten_add(br_tensor *r, br_tensor *a, br_tensor *b, double v)
{
   OUTERMOST();
   handle to = br_tensor_handle(r), one = to ? br_tensor_handle(a) : NULL;
   if (!one) return -1;
   handle other = b ? br_tensor_handle(b) : br_device_scalar(a, v);
   int failed = !other || br_device_subtract(to, one, other, b ? -v : -1);
   if (!b && other) shim.delete_tensor_object(other);
   return failed ? br_torch_failed(NULL) : 0;
}
