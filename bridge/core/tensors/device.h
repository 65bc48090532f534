/* Tensors whose elements lie in the memory of a device.
 *
 * A vector of torch's owns the memory (br_block.device); every view of it is a view of that vector, made for torch, so
 * that whatever reads or writes an element is an operator of torch. Here the memory covers no byte (storage.nbytes is
 * 0), so every loop over host memory refuses such a tensor before it touches anything; torch.kernels then asks the
 * device. The device is torch's 'cuda', or, to check this very code where there is none, 'cpu' with an address that
 * nobody is told. */
#ifndef BRIDGE_DEVICE_H
#define BRIDGE_DEVICE_H

#include "tensors/block.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
/* Let a state's devices be those of type 'cuda' or 'cpu' of the torch in the library at `path`. NULL, or what is
   missing. All other functions answer 0, or another number after which br_torch_error() says why. */
const char *br_device_load(br_heap *heap, const char *path, const char *device);
/* One element, `at` elements into a storage. */
int br_device_read(const br_storage *storage, int64_t at, double *value);
int br_device_write(const br_storage *storage, int64_t at, double value);
/* The number of the device that holds a storage, from 0; of 'cpu' 0. */
int br_device_number(const br_storage *storage);
/* Does the CPU stand for the device of a tensor? Then nobody is told its address. */
int br_device_hidden(void *handle);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

/* Part of a storage's memory, which it shares. NULL: torch refused. */
br_block *br_device_part(const br_storage *storage, int64_t start, int64_t size);
/* Memory for `size` elements on the thread's current device. NULL: there is none. */
br_block *br_device_block(br_heap *heap, int dtype, int64_t size);
/* The same for a storage that grows, with what it holds. */
br_block *br_device_grown(const br_storage *storage, int64_t size);
/* A number as torch's tensor without dimension, of the type of another. It is in host memory, from where torch hands it
   to a GPU with the call. NULL: torch refused. */
void *br_device_scalar(const br_tensor *like, double value);
/* A handle of its own, for whoever takes it, of a view of a storage on the device; n 0: of one element. NULL: torch
   refused, or the memory does not cover it. */
void *br_device_view(const br_storage *storage, int n, const int64_t *size, const int64_t *stride, int64_t offset);
/* A vector over all `size` elements of a torch tensor's memory, without the Python object that the handle may have;
   `handle` is taken over. NULL: torch refused. */
void *br_device_adopt(void *handle, int64_t size);
/* Where a tensor's memory is on its device. NULL: nobody is told. */
void *br_device_address(void *handle);
/* A handle of its own, for whoever takes it, of a vector of size 0: where what the handle `there` is of lies, or on the
   CPU if that is NULL. NULL: torch refused. */
void *br_device_empty(int dtype, void *there);
/* r = a - v b, by handles. 0, or another number: torch refused. */
int br_device_subtract(void *r, void *a, void *b, double v);

#endif
