#include "tensors/tensor.h"
#include "tensors/device.h"
#include "tensors/pages.h"

#include <stdlib.h>
#include <string.h>

#define TH_STORAGE_FREEMEM 4

/* ---- storages */

/* `live`, `live_nbytes`: where a foreign owner keeps a pointer and a size that it may change; NULL: the storage's own.
   Memory on a device counts as 0 bytes, because the CPU cannot read it. */
static void storage_attach(br_storage *storage, br_block *block, void **live, int64_t *live_nbytes)
{
   storage->block = block;
   storage->data = block->data;
   storage->nbytes = block->device ? 0 : block->nbytes;
   storage->live = live ? live : &storage->data;
   storage->live_nbytes = live_nbytes ? live_nbytes : &storage->nbytes;
}

br_storage *br_storage_over(br_block *block, br_heap *heap, int dtype, int64_t size, void **live, int64_t *live_nbytes)
{
   br_storage *storage = calloc(1, sizeof *storage);
   if (!storage) return NULL;
   storage->size = size;
   storage->refcount = 1;
   storage->flag = 3;  /* TH_STORAGE_REFCOUNTED | TH_STORAGE_RESIZABLE */
   storage->dtype = dtype;
   storage->heap = heap;
   if (heap) count_up(&heap->refcount);
   storage_attach(storage, block, live, live_nbytes);
   return storage;
}

static int byte_count(int dtype, int64_t size, int64_t *nbytes)
{
   return size < 0 || __builtin_mul_overflow(size, (int64_t)br_element_size(dtype), nbytes);
}

br_storage *br_storage_new(br_heap *heap, int dtype, int64_t size)
{
   int64_t nbytes;
   if (byte_count(dtype, size, &nbytes)) return NULL;
   br_block *block = dtype & BR_DEVICE ? br_device_block(heap, dtype, size) : br_block_own(heap, nbytes, NULL);
   if (!block) return NULL;
   br_storage *storage = br_storage_over(block, heap, dtype, size, NULL, NULL);
   if (!storage) br_block_release(block);
   return storage;
}

br_storage *br_storage_borrow(br_heap *heap, int dtype, int64_t size, void *data)
{
   int64_t nbytes;
   if (byte_count(dtype, size, &nbytes)) return NULL;
   br_block *block = br_block_new(NULL, data, nbytes, BR_BORROWED);
   if (!block) return NULL;
   br_storage *storage = br_storage_over(block, heap, dtype, size, NULL, NULL);
   if (!storage) br_block_release(block);
   return storage;
}

void br_storage_retain(br_storage *storage) { count_up(&storage->refcount); }

void br_storage_release(br_storage *storage)
{
   if (!storage || !was_last(&storage->refcount)) return;
   if (storage->allocator && storage->flag & TH_STORAGE_FREEMEM)
      ((br_th_allocator *)storage->allocator)->free(storage->allocatorContext, storage->data);
   br_block_release(storage->block);
   br_heap_release(storage->heap);
   free(storage);
}

static int resize(br_storage *storage, int64_t size, br_span *span)
{
   int64_t nbytes;
   if (byte_count(storage->dtype, size, &nbytes)) return -1;
   if (storage->block->device) {
      if (nbytes > storage->block->nbytes) {
         br_block *block = br_device_grown(storage, size), *old = storage->block;
         if (!block) return -1;
         storage_attach(storage, block, NULL, NULL);
         br_block_release(old);
      }
   } else if (nbytes > *storage->live_nbytes) {
      br_block *block = br_block_own(storage->heap, nbytes, span);
      if (!block) return span ? 1 : -1;
      br_block *old = storage->block;
      memcpy(block->data, *storage->live, (size_t)*storage->live_nbytes);
      storage_attach(storage, block, NULL, NULL);
      br_block_release(old);
   }
   storage->size = size;
   return 0;
}

int br_storage_resize(br_storage *storage, int64_t size) { return resize(storage, size, NULL); }

int br_storage_resize_in(br_storage *storage, int64_t size, br_span *span) { return resize(storage, size, span); }

int br_storage_adopt(br_storage *storage, int64_t size, void *data, br_span *span)
{
   int64_t nbytes;
   if (byte_count(storage->dtype, size, &nbytes)) return -1;
   br_block *block = br_block_new(NULL, data, nbytes, BR_SPAN);
   if (!block) return -1;
   block->span = span;
   br_block *old = storage->block;
   storage_attach(storage, block, NULL, NULL);
   br_block_release(old);
   storage->size = size;
   return 0;
}

/* ---- tensors */

void br_tensor_init(br_tensor *tensor, int dtype)
{
   memset(tensor, 0, sizeof *tensor);
   tensor->size = tensor->dims;
   tensor->stride = tensor->dims + 4;
   tensor->capacity = 4;
   tensor->refcount = 1;
   tensor->flag = 1;  /* TH_TENSOR_REFCOUNTED */
   tensor->dtype = dtype;
}

void br_tensor_changed(br_tensor *tensor)
{
   if (!tensor->handle) return;
   br_torch.delete_tensor_object(tensor->handle);
   tensor->handle = NULL;
}

void br_tensor_clear(br_tensor *tensor)
{
   br_tensor_changed(tensor);
   br_storage_release(tensor->storage);
   tensor->storage = NULL;
   if (tensor->size != tensor->dims) free(tensor->size);
   tensor->size = tensor->dims;
   tensor->stride = tensor->dims + 4;
   tensor->capacity = 4;
   tensor->nDimension = 0;
}

int br_tensor_reserve(br_tensor *tensor, int n)
{
   if (n <= tensor->capacity) return 0;
   int64_t *room = calloc((size_t)n * 2, sizeof *room);
   if (!room) return -1;
   if (tensor->size != tensor->dims) free(tensor->size);
   tensor->size = room;
   tensor->stride = room + n;
   tensor->capacity = n;
   return 0;
}

void br_tensor_set_storage(br_tensor *tensor, br_storage *storage)
{
   br_storage *old = tensor->storage;
   if (storage) br_storage_retain(storage);
   tensor->storage = storage;
   br_tensor_changed(tensor);
   br_storage_release(old);
}

int br_tensor_covered(const br_tensor *tensor)
{
   if (tensor->nDimension == 0) return 1;
   if (!tensor->storage) return 0;
   int64_t low = tensor->storageOffset, high = tensor->storageOffset, reach, bytes;
   for (int d = 0; d < tensor->nDimension; d++) {
      if (tensor->size[d] == 0) return 1;
      if (__builtin_mul_overflow(tensor->size[d] - 1, tensor->stride[d], &reach)) return 0;
      if (__builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high)) return 0;
   }
   if (low < 0 || high == INT64_MAX) return 0;
   if (__builtin_mul_overflow(high + 1, (int64_t)br_element_size(tensor->dtype), &bytes)) return 0;
   return bytes <= *tensor->storage->live_nbytes;
}

/* The handle of a tensor on a device. Torch7's tensor without dimension is torch's vector of size 0. */
static void *device_handle(br_tensor *tensor, const br_tensor *beside)
{
   void *owner = tensor->storage && tensor->nDimension ? tensor->storage->block->device : NULL;
   if (tensor->handle && owner && tensor->handle_data == owner) return tensor->handle;
   br_tensor_changed(tensor);
   if (owner) {
      tensor->handle = br_device_view(tensor->storage, tensor->nDimension, tensor->size, tensor->stride,
                                      tensor->storageOffset);
   } else {
      const br_storage *place = tensor->storage ? tensor->storage : beside ? beside->storage : NULL;
      tensor->handle = br_device_empty(tensor->dtype, place ? place->block->device : NULL);
   }
   tensor->handle_data = owner;
   return tensor->handle;
}

void *br_tensor_handle(br_tensor *tensor) { return br_tensor_handle_beside(tensor, NULL); }

void *br_tensor_handle_beside(br_tensor *tensor, const br_tensor *beside)
{
   if (tensor->dtype & BR_DEVICE) return device_handle(tensor, beside);
   if (!br_torch.create_tensor_from_blob || !br_tensor_covered(tensor)) return NULL;
   void *data = tensor->storage ? *tensor->storage->live : NULL;
   if (tensor->handle && tensor->handle_data == data) return tensor->handle;
   br_tensor_changed(tensor);
   static const int64_t empty[1] = {0};
   static const int64_t one[1] = {1};
   int none = tensor->nDimension == 0;  /* Torch7's tensor without dimension is torch's tensor of size 0 */
   char *first = data ? (char *)data + tensor->storageOffset * (ptrdiff_t)br_element_size(tensor->dtype) : NULL;
   int32_t rc = br_torch.create_tensor_from_blob(first, none ? 1 : tensor->nDimension, none ? empty : tensor->size,
                                                 none ? one : tensor->stride, 0, br_torch.dtypes[tensor->dtype],
                                                 0, -1, &tensor->handle);
   if (rc != 0) {
      tensor->handle = NULL;
      return NULL;
   }
   tensor->handle_data = data;
   return tensor->handle;
}
