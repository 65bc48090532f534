/* What storages and tensors do. */
#ifndef BRIDGE_TENSOR_H
#define BRIDGE_TENSOR_H

#include "tensors/block.h"
#include "tensors/shim.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
/* A storage of `size` elements, uninitialised, one reference. NULL: out of memory, or a size that overflows. */
br_storage *br_storage_new(br_heap *heap, int dtype, int64_t size);
/* A storage over memory that is not ours and stays its owner's to free. NULL: out of memory. */
br_storage *br_storage_borrow(br_heap *heap, int dtype, int64_t size, void *data);
void br_storage_retain(br_storage *storage);
void br_storage_release(br_storage *storage);
/* Keep the first min(old, new) elements. Shrinking keeps the block. A block that others read, or that a Python object
   lent, is left to them and replaced. 0, or -1: out of memory, nothing changed. */
int br_storage_resize(br_storage *storage, int64_t size);
/* The same, with memory of a span; 1: it has no room, nothing changed. */
int br_storage_resize_in(br_storage *storage, int64_t size, struct br_span *span);
/* Make it `size` elements that lie at `data` in a span, whose reference it takes over; 0, or -1: nothing changed. */
int br_storage_adopt(br_storage *storage, int64_t size, void *data, struct br_span *span);

/* Room for n dimensions in size and stride; what they held is lost when they have to move. 0, or -1: out of memory. */
int br_tensor_reserve(br_tensor *tensor, int n);
/* Take a reference to `storage` (or NULL) and give back the one held before. */
void br_tensor_set_storage(br_tensor *tensor, br_storage *storage);
/* To be called after size, stride, offset or dimension changed: forgets the handle. */
void br_tensor_changed(br_tensor *tensor);
/* Does the memory behind the storage still cover every element of this view? */
int br_tensor_covered(const br_tensor *tensor);
/* torch's handle for this view, made when needed; belongs to the tensor. NULL: torch refused (its message is kept by
   torch_exception_get_what_without_backtrace), torch is not loaded, or the memory is gone. */
void *br_tensor_handle(br_tensor *tensor);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

/* A storage over a block (takes over the caller's reference to it). `live` and `live_nbytes`: where a foreign owner
   keeps its data pointer and size, or NULL. NULL: out of memory, reference not taken. */
br_storage *br_storage_over(br_block *block, br_heap *heap, int dtype, int64_t size, void **live, int64_t *live_nbytes);

/* As br_tensor_handle. But the handle of a tensor for a device that has no memory yet is on the device of `beside`,
   or on the CPU if `beside` is NULL or has no memory either. */
void *br_tensor_handle_beside(br_tensor *tensor, const br_tensor *beside);

/* Prepare zeroed userdata memory as an empty tensor; undo what a tensor owns. */
void br_tensor_init(br_tensor *tensor, int dtype);
void br_tensor_clear(br_tensor *tensor);

#endif
