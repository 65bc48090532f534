/* DLPack's structures (version 1) and torch's table for exchanging them from C, declared by hand. */
#ifndef BRIDGE_DLPACK_H
#define BRIDGE_DLPACK_H

#include <Python.h>
#include <stdlib.h>
#include "../core/tensors/tensor.h"

typedef struct { int32_t device_type, device_id; } DLDevice;
typedef struct { uint8_t code, bits; uint16_t lanes; } DLDataType;
typedef struct {
   void *data;
   DLDevice device;
   int32_t ndim;
   DLDataType dtype;
   int64_t *shape;
   int64_t *strides;   /* elements */
   uint64_t byte_offset;
} DLTensor;
typedef struct { uint32_t major, minor; } DLPackVersion;
typedef struct DLManagedTensorVersioned {
   DLPackVersion version;
   void *manager_ctx;
   void (*deleter)(struct DLManagedTensorVersioned *self);
   uint64_t flags;
   DLTensor dl_tensor;
} DLManagedTensorVersioned;

typedef struct br_dlpack_api {
   DLPackVersion version;
   void *previous;
   void *managed_tensor_allocator;
   void *managed_tensor_from_object;
   int (*managed_tensor_to_object)(DLManagedTensorVersioned *tensor, void **object);
   int (*tensor_from_object)(void *object, DLTensor *tensor);
   void *current_work_stream;
} br_dlpack_api;

/* The table of the version declared here. torch's list begins with its newest; `previous` is the next older. NULL:
   none. */
static const br_dlpack_api *br_dlpack_known(const br_dlpack_api *api)
{
   while (api && api->version.major != 1) api = (const br_dlpack_api *)api->previous;
   return api;
}

static int br_dlpack_read(const br_dlpack_api *api, PyObject *object, DLTensor *tensor)
{
   return api->tensor_from_object(object, tensor) == 0 ? 0 : -1;
}

/* Called by torch from any thread, with or without the GIL. */
static void br_dlpack_delete(DLManagedTensorVersioned *tensor)
{
   br_block_release((br_block *)tensor->manager_ctx);
   free(tensor);
}

/* A torch tensor over a block. */
static PyObject *br_dlpack_tensor(const br_dlpack_api *api, br_block *block, void *data, int dtype, int ndim,
                                  const int64_t *size, const int64_t *stride)
{
   static const DLDataType types[BR_DTYPES] = {
      {1, 8, 1}, {0, 8, 1}, {0, 16, 1}, {0, 32, 1}, {0, 64, 1}, {2, 16, 1}, {2, 32, 1}, {2, 64, 1}};
   DLManagedTensorVersioned *tensor = (DLManagedTensorVersioned *)calloc(
      1, sizeof *tensor + 2 * (size_t)ndim * sizeof(int64_t));
   void *object = NULL;
   if (!tensor) return PyErr_NoMemory();
   tensor->version.major = 1;
   tensor->manager_ctx = block;
   tensor->deleter = br_dlpack_delete;
   tensor->dl_tensor.data = data;
   tensor->dl_tensor.device.device_type = 1; /* kDLCPU */
   tensor->dl_tensor.ndim = ndim;
   tensor->dl_tensor.dtype = types[dtype];
   tensor->dl_tensor.shape = (int64_t *)(tensor + 1);
   tensor->dl_tensor.strides = tensor->dl_tensor.shape + ndim;
   for (int d = 0; d < ndim; d++) {
      tensor->dl_tensor.shape[d] = size[d];
      tensor->dl_tensor.strides[d] = stride[d];
   }
   br_block_retain(block);
   if (api->managed_tensor_to_object(tensor, &object) != 0) {
      if (!PyErr_Occurred()) PyErr_SetString(PyExc_RuntimeError, "torch did not take over a tensor's memory");
      return NULL;
   }
   return (PyObject *)object;
}

#endif
