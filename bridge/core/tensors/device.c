#define _GNU_SOURCE
#include "tensors/device.h"
#include "tensors/element.h"
#include "tensors/shim.h"
#include "tensors/symbols.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef void *handle;

static struct shim {
   int32_t (*empty)(int64_t, const int64_t *, const int64_t *, int32_t, int32_t, int32_t, handle *);
   int32_t (*view)(handle, int64_t, const int64_t *, const int64_t *, int64_t, handle *);
   int32_t (*copy)(handle, handle, int32_t);
   int32_t (*storage_nbytes)(handle, int64_t *);
   int32_t (*address)(handle, void **);
   int32_t (*number)(handle, int32_t *);
   int32_t (*type)(handle, int32_t *);
   int32_t (*item_number)(handle, double *);
   int32_t (*item_integer)(handle, int64_t *);
   int32_t (*full)(const int64_t *, int64_t, double, int32_t *, int32_t *, int32_t *, int32_t, int32_t *, handle *);
   int32_t (*subtract)(handle, handle, double, handle *);
   int32_t (*cpu)(void);
   int32_t (*cuda)(void);
} shim;

const char *br_device_load(br_heap *heap, const char *path, const char *device)
{
   static const br_symbol symbols[] = {
      {"aoti_torch_empty_strided", offsetof(struct shim, empty)},
      {"aoti_torch__reinterpret_tensor", offsetof(struct shim, view)},
      {"aoti_torch_copy_", offsetof(struct shim, copy)},
      {"aoti_torch_get_storage_size", offsetof(struct shim, storage_nbytes)},
      {"aoti_torch_get_data_ptr", offsetof(struct shim, address)},
      {"aoti_torch_get_device_index", offsetof(struct shim, number)},
      {"aoti_torch_get_device_type", offsetof(struct shim, type)},
      {"aoti_torch_item_float64", offsetof(struct shim, item_number)},
      {"aoti_torch_item_int64", offsetof(struct shim, item_integer)},
      {"aoti_torch_aten_full", offsetof(struct shim, full)},
      {"aoti_torch_aten_subtract_Tensor", offsetof(struct shim, subtract)},
      {"aoti_torch_device_type_cpu", offsetof(struct shim, cpu)},
      {"aoti_torch_device_type_cuda", offsetof(struct shim, cuda)},
   };
   void *library = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
   if (!library) return path;
   struct shim found = {0};
   const char *missing = br_symbols(library, symbols, sizeof symbols / sizeof *symbols, &found);
   if (missing) return missing;
   shim = found;
   heap->device = strcmp(device, "cuda") == 0 ? shim.cuda() : shim.cpu();
   return NULL;
}

static void drop(handle h) { br_torch.delete_tensor_object(h); }

/* A new torch vector on a device of this type: the one with this number, or the current one for -1. NULL: torch
   refused. */
static handle vector(int32_t type, int32_t number, int dtype, int64_t size)
{
   static const int64_t one[1] = {1};
   handle made = NULL;
   if (!shim.empty) {
      br_torch_failed("no device is in use");
      return NULL;
   }
   if (shim.empty(1, &size, one, br_torch.dtypes[dtype & ~BR_DEVICE], type, number, &made)) {
      br_torch_failed(NULL);
      return NULL;
   }
   return made;
}

br_block *br_device_block(br_heap *heap, int dtype, int64_t size)
{
   OUTERMOST();
   handle owner = vector(heap->device, -1, dtype, size);
   if (!owner) return NULL;
   br_block *block =
      br_block_device(heap, br_device_address(owner), size * (int64_t)br_element_size(dtype), owner, NULL);
   if (!block) drop(owner);
   return block;
}

void *br_device_view(const br_storage *storage, int n, const int64_t *size, const int64_t *stride, int64_t offset)
{
   int64_t low = offset, high = offset, reach, nbytes, width = (int64_t)br_element_size(storage->dtype);
   handle made;
   if (!storage->block->device) return NULL;
   for (int d = 0; d < n; d++) {
      if (__builtin_mul_overflow(size[d] - 1, stride[d], &reach)) return NULL;
      if (__builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high)) return NULL;
   }
   if (shim.storage_nbytes(storage->block->device, &nbytes)) return NULL;
   if (low < 0 || high >= storage->block->nbytes / width || high >= nbytes / width) {
      br_torch_failed("the memory behind a tensor was released or shrunk by its owner");
      return NULL;
   }
   if (!shim.view(storage->block->device, n, size, stride, offset, &made)) return made;
   br_torch_failed(NULL);
   return NULL;
}

br_block *br_device_part(const br_storage *storage, int64_t start, int64_t size)
{
   OUTERMOST();
   static const int64_t one[1] = {1};
   handle part = NULL;
   if (shim.view(storage->block->device, 1, &size, one, start, &part)) return NULL;
   br_block *block =
      br_block_device(NULL, br_device_address(part), size * (int64_t)br_element_size(storage->dtype), part, NULL);
   if (!block) drop(part);
   return block;
}

void *br_device_adopt(void *taken, int64_t size)
{
   static const int64_t one[1] = {1};
   handle made = NULL;
   if (!shim.view || shim.view(taken, 1, &size, one, 0, &made)) made = NULL;
   drop(taken);
   return made;
}

int br_device_hidden(void *of)
{
   int32_t type;
   return shim.type && shim.type(of, &type) == 0 && type == shim.cpu();
}

void *br_device_address(void *of)
{
   void *data = NULL;
   return !br_device_hidden(of) && shim.address(of, &data) == 0 ? data : NULL;
}

br_block *br_device_grown(const br_storage *storage, int64_t size)
{
   OUTERMOST();
   static const int64_t one[1] = {1};
   br_block *block = br_device_block(storage->heap, storage->dtype, size);
   int64_t kept = storage->size;
   if (!block || kept == 0) return block;
   handle from = br_device_view(storage, 1, &kept, one, 0), to = NULL;
   int failed = !from || shim.view(block->device, 1, &kept, one, 0, &to) || shim.copy(to, from, 0);
   if (from) drop(from);
   if (to) drop(to);
   if (!failed) return block;
   br_block_release(block);
   return NULL;
}

void *br_device_empty(int dtype, void *there)
{
   int32_t type = shim.cpu ? shim.cpu() : 0, number = -1;
   if (there && (shim.type(there, &type) || shim.number(there, &number))) return NULL;
   return vector(type, number, dtype, 0);
}

void *br_device_scalar(const br_tensor *like, double value)
{
   char bytes[8];
   handle made = NULL;
   int dtype = like->dtype & ~BR_DEVICE;
   int32_t type = shim.cpu();
   element_encode(dtype, value, bytes);
   if (shim.full(NULL, 0, element_decode(dtype, bytes), &br_torch.dtypes[dtype], NULL, &type, -1, NULL, &made))
      return NULL;
   return made;
}

int br_device_read(const br_storage *storage, int64_t at, double *value)
{
   OUTERMOST();
   int64_t integer;
   handle element = br_device_view(storage, 0, NULL, NULL, at);
   if (!element) return -1;
   int rc;
   if ((storage->dtype & ~BR_DEVICE) <= BR_LONG) {
      rc = shim.item_integer(element, &integer);
      *value = rc ? 0 : (double)integer;
   } else {
      rc = shim.item_number(element, value);
      *value = rc ? 0 : plain_number(*value);
   }
   drop(element);
   return rc ? br_torch_failed(NULL) : 0;
}

int br_device_write(const br_storage *storage, int64_t at, double value)
{
   OUTERMOST();
   char bytes[8];
   int dtype = storage->dtype & ~BR_DEVICE;
   handle element = br_device_view(storage, 0, NULL, NULL, at), from = NULL;
   if (!element) return -1;
   element_encode(dtype, value, bytes);
   int failed = br_torch.create_tensor_from_blob(bytes, 0, NULL, NULL, 0, br_torch.dtypes[dtype], shim.cpu(), -1, &from)
                || shim.copy(element, from, 0);
   if (from) drop(from);
   drop(element);
   return failed ? br_torch_failed(NULL) : 0;
}

int br_device_subtract(void *r, void *a, void *b, double v)
{
   handle difference = NULL;
   int failed = shim.subtract(a, b, v, &difference) || shim.copy(r, difference, 0);
   if (difference) drop(difference);
   return failed;
}

int br_device_number(const br_storage *storage)
{
   int32_t number = 0;
   if (!storage->block->device || shim.number(storage->block->device, &number)) return 0;
   return number < 0 ? 0 : number;
}
