#include "tensors/storage_part.h"
#include "tensors/device.h"

br_storage *br_storage_part(br_storage *parent, int64_t start, int64_t size)
{
   int64_t width = (int64_t)br_element_size(parent->dtype), end;
   if (parent->live != &parent->data) return NULL;
   if (start < 0 || size < 0 || __builtin_add_overflow(start, size, &end)) return NULL;
   if (parent->block->device) {
      br_block *block = end > parent->size ? NULL : br_device_part(parent, start, size);
      br_storage *shared = block ? br_storage_over(block, parent->heap, parent->dtype, size, NULL, NULL) : NULL;
      if (block && !shared) br_block_release(block);
      return shared;
   }
   if (__builtin_mul_overflow(end, width, &end) || end > *parent->live_nbytes) return NULL;
   br_block_retain(parent->block);
   br_storage *part = br_storage_over(parent->block, parent->heap, parent->dtype, size, NULL, NULL);
   if (!part) {
      br_block_release(parent->block);
      return NULL;
   }
   part->data = (char *)*parent->live + start * width;
   part->nbytes = size * width;
   return part;
}
