/* Tensors and storages as Lua sees them: TH's memory layout, then a few fields of our own.
 *
 * A tensor is a Lua full userdata that *is* a br_tensor. A storage is a userdata that holds one pointer to a
 * reference-counted br_storage; tensors and storage userdata share it. A storage's memory is a block with a
 * reference count of its own, because numpy and torch hold on to memory, not to storages: a storage that grows takes
 * a new block and whoever still reads the old one keeps it.
 *
 * The text between the two BRIDGE_CDEF lines is also read by LuaJIT's ffi.cdef: plain C declarations only. */
#ifndef BRIDGE_TENSOR_H
#define BRIDGE_TENSOR_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define BR_API __attribute__((visibility("default")))
#else
#define BR_API
#endif

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
enum { BR_BYTE, BR_CHAR, BR_SHORT, BR_INT, BR_LONG, BR_HALF, BR_FLOAT, BR_DOUBLE, BR_DTYPES };
/* BR_DEVICE + an element type: such elements in the memory of a device (core/tensors/device.h). */
enum { BR_DEVICE = BR_DTYPES, BR_TYPES = 2 * BR_DTYPES };

/* Bytes of tensor memory that one Lua state keeps alive; what drives its collector. Atomic: blocks are dropped from
   any thread. */
typedef struct br_heap {
   int64_t held;       /* bytes alive now */
   int64_t limit;      /* collect before allocating when `held` would pass this */
   int refcount;       /* the state, and every block counted here */
   int device;         /* torch's number of the type of the state's devices (core/tensors/device.h) */
} br_heap;

/* A Python reference waiting to be dropped by somebody who holds the GIL. */
typedef struct br_drop {
   struct br_drop *next;
   void *object;       /* PyObject *, owned; NULL: nothing to drop */
} br_drop;

/* Where a block's memory comes from, and so who frees it. BR_GIVEN: a function that came with it. BR_BORROWED: neither
   we nor a Python object. */
enum { BR_ALLOCATED, BR_PAGES, BR_SPAN, BR_PYTHON, BR_VECTOR, BR_GIVEN, BR_BORROWED };

/* A piece of memory: our own, or lent by a Python object. */
typedef struct br_block {
   br_drop drop;       /* drop.object: the Python owner, NULL for our own memory */
   void *data;
   int64_t nbytes;
   br_heap *heap;      /* may be NULL: not counted */
   struct br_span *span; /* of BR_SPAN; a reference */
   int refcount;
   int origin;
   void *device;       /* of BR_VECTOR: torch's handle of the vector of elements that owns memory on a device */
   void (*give_back)(void *data); /* of BR_GIVEN; called in any thread */
} br_block;

/* Who takes and gives back a storage's memory, as TH has it. */
typedef struct br_th_allocator {
   void *(*malloc)(void *context, ptrdiff_t size);
   void *(*realloc)(void *context, void *data, ptrdiff_t size);
   void (*free)(void *context, void *data);
} br_th_allocator;

typedef struct br_storage {
   void *data;         /* TH's fields, in TH's order */
   ptrdiff_t size;     /* elements */
   int refcount;
   char flag;
   void *allocator;    /* a br_th_allocator whose `free` is called, with the context, when the storage goes, or NULL */
   void *allocatorContext;
   struct br_storage *view;
   void **live;        /* where the data pointer is read: &data, or a field of the foreign owner that can move */
   int64_t *live_nbytes; /* bytes valid there */
   int64_t nbytes;
   br_block *block;
   br_heap *heap;
   int dtype;
} br_storage;

typedef struct br_tensor {
   int64_t *size;      /* TH's fields, in TH's order */
   int64_t *stride;
   int nDimension;
   br_storage *storage; /* NULL until the first element */
   ptrdiff_t storageOffset; /* elements, 0-based */
   int refcount;
   char flag;
   int dtype;
   int capacity;       /* dimensions that size and stride have room for */
   void *handle;       /* torch's AtenTensorHandle for exactly this view, or NULL */
   void *handle_data;  /* the data pointer the handle was made for */
   int64_t dims[8];    /* size and stride while there are at most four dimensions */
} br_tensor;

size_t br_element_size(int dtype);

/* A heap with one reference. NULL: out of memory. */
br_heap *br_heap_new(void);
void br_heap_release(br_heap *heap);
/* The bytes alive now, which other threads change meanwhile. */
int64_t br_heap_held(const br_heap *heap);

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

/* torch's stable C shim, as far as this file needs it; filled by the boundary once torch is imported. */
typedef struct br_shim {
   int32_t (*create_tensor_from_blob)(void *data, int64_t ndim, const int64_t *sizes, const int64_t *strides,
                                      int64_t storage_offset, int32_t dtype, int32_t device_type,
                                      int32_t device_index, void **result);
   int32_t (*delete_tensor_object)(void *handle);
   int32_t dtypes[BR_DTYPES];
} br_shim;
extern br_shim br_torch;

#define BR_MIN_LIMIT (64LL << 20)  /* a heap this small is never collected for its size alone */

/* A block over memory that a Python object (an owned reference) lends. NULL: out of memory, reference not taken. */
br_block *br_block_lent(br_heap *heap, void *data, int64_t nbytes, void *object);
void br_block_retain(br_block *block);
void br_block_release(br_block *block);
/* A block over memory that `give_back` frees. NULL: out of memory, nothing taken. */
br_block *br_block_given(void *data, int64_t nbytes, void (*give_back)(void *data));
/* A block over the memory on a device of a torch tensor, of which it takes over the handle, and the reference to
   `object`, which may be NULL. `data`: the device's address, never read here. NULL: out of memory, nothing taken. */
br_block *br_block_device(br_heap *heap, void *data, int64_t nbytes, void *handle, void *object);
/* A storage over a block (takes over the caller's reference to it). `live` and `live_nbytes`: where a foreign owner
   keeps its data pointer and size, or NULL. NULL: out of memory, reference not taken. */
br_storage *br_storage_over(br_block *block, br_heap *heap, int dtype, int64_t size, void **live, int64_t *live_nbytes);

/* Prepare zeroed userdata memory as an empty tensor; undo what a tensor owns. */
void br_tensor_init(br_tensor *tensor, int dtype);
void br_tensor_clear(br_tensor *tensor);

/* Queue a reference for br_drops_take; needs no GIL. The node stays the queue's until it is taken. */
void br_drop_later(br_drop *drop);
/* Everything queued so far, as a list in no order; `drop` nodes with `data` behind them belong to blocks. */
br_drop *br_drops_take(void);
/* Called (from any thread, without the GIL) when the queue was empty and no longer is. */
extern void (*br_drops_wakeup)(void);

#endif
