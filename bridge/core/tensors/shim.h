/* What all callers of torch's stable C shim need: no headers of torch, symbols found at run time, why a call failed. */
#ifndef BRIDGE_SHIM_H
#define BRIDGE_SHIM_H

#include "tensors/layout.h"

/* The functions that all handles of tensors need; filled by the boundary once torch is imported. */
typedef struct br_shim {
   int32_t (*create_tensor_from_blob)(void *data, int64_t ndim, const int64_t *sizes, const int64_t *strides,
                                      int64_t storage_offset, int32_t dtype, int32_t device_type,
                                      int32_t device_index, void **result);
   int32_t (*delete_tensor_object)(void *handle);
   int32_t dtypes[BR_DTYPES];
   const char *(*what)(void); /* why torch's last call on this thread failed; may be missing */
} br_shim;
extern br_shim br_torch;

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
/* Why the last call on this thread failed. */
const char *br_torch_error(void);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

/* Keep for br_torch_error() why a call failed; NULL: what torch says about its last call on this thread. Returns -1. */
int br_torch_failed(const char *why);

/* Mark the function that has this as the outermost one: a walk along the stack ends at it. torch walks along the stack
   when it makes an error, to note its callers, and libgcc aborts the process if the walk reaches code that LuaJIT
   compiled. */
#if defined(__x86_64__)
#define OUTERMOST() __asm__ volatile(".cfi_undefined rip")
#elif defined(__aarch64__)
#define OUTERMOST() __asm__ volatile(".cfi_undefined x30")
#else
#define OUTERMOST() ((void)0)
#endif

#endif
