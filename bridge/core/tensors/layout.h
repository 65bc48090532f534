/* Tensors and storages as Lua sees them: TH's memory layout, then a few fields of our own.
 *
 * A tensor is a Lua full userdata that *is* a br_tensor. A storage is a userdata that holds one pointer to a
 * reference-counted br_storage; tensors and storage userdata share it. A storage's memory is a block with a
 * reference count of its own, because numpy and torch hold on to memory, not to storages: a storage that grows takes
 * a new block, and the old one stays for the arrays and tensors that still read it.
 *
 * The text between the two BRIDGE_CDEF lines is also read by LuaJIT's ffi.cdef: plain C declarations only. */
#ifndef BRIDGE_LAYOUT_H
#define BRIDGE_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

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

/* A Python reference that waits until a thread with the GIL drops it. */
typedef struct br_drop {
   struct br_drop *next;
   void *object;       /* PyObject *, owned; NULL: nothing to drop */
} br_drop;

/* Where a block's memory comes from, which decides how it is freed. BR_GIVEN: by a function that came with it.
   BR_BORROWED: not by us; it has another owner. */
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

/* The functions that allocate and free a storage's memory, in TH's layout. */
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

/* Bytes of one element. */
size_t br_element_size(int dtype);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

#endif
