/* Tensors whose elements lie in the memory of a device.
 *
 * A vector of torch's owns the memory (br_block.device). Every view of it is a torch view of that vector, so only
 * torch's operators read and write elements. Here the memory covers no byte (storage.nbytes is 0), so every loop over
 * host memory refuses such a tensor before it touches anything; torch.kernels then calls the device's version of the
 * loop.
 *
 * The device is torch's 'cuda'. Tests without a GPU use torch's 'cpu' as the device. Code outside of torch then never
 * gets the memory's address, so that it fails as it would on a GPU. */
#ifndef BRIDGE_DEVICE_H
#define BRIDGE_DEVICE_H

#include "tensors/block.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
/* Let a state use the devices of type 'cuda' or 'cpu' of the torch in the library at `path`. Returns NULL, or what is
   missing: the path or a function's name. */
const char *br_device_load(br_heap *heap, const char *path, const char *device);
/* Read or write the element at index `at` of a storage. 0, or another number after which br_torch_error() says why. */
int br_device_read(const br_storage *storage, int64_t at, double *value);
int br_device_write(const br_storage *storage, int64_t at, double value);
/* The number of the device that holds a storage, from 0; 0 for 'cpu'. */
int br_device_number(const br_storage *storage);
/* Is torch's 'cpu' the device of a tensor? Then its address is hidden. */
int br_device_hidden(void *handle);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

/* A block over a part of a storage's memory, which it shares with the storage. NULL: torch refused. */
br_block *br_device_part(const br_storage *storage, int64_t start, int64_t size);
/* Memory for `size` elements on the thread's current device. NULL: there is none. */
br_block *br_device_block(br_heap *heap, int dtype, int64_t size);
/* A new, larger block for a storage that grows; it begins with a copy of its elements. NULL: torch refused. */
br_block *br_device_grown(const br_storage *storage, int64_t size);
/* A new handle, which the caller deletes, of a number as a torch tensor without dimensions, of the element type of
   `like`. It is in host memory; torch hands it to a GPU with the call. NULL: torch refused. */
void *br_device_scalar(const br_tensor *like, double value);
/* A new handle, which the caller deletes, of a view of a storage on the device; n 0: of one element. NULL: torch
   refused, or the memory does not cover the view. */
void *br_device_view(const br_storage *storage, int n, const int64_t *size, const int64_t *stride, int64_t offset);
/* A new handle, which the caller deletes, of a vector over all `size` elements of a torch tensor's memory, without the
   Python object that `handle` may have; deletes `handle` in any case. NULL: torch refused. */
void *br_device_adopt(void *handle, int64_t size);
/* The address of a tensor's memory on its device. NULL: the address is hidden (br_device_hidden), or torch refused. */
void *br_device_address(void *handle);
/* A new handle, which the caller deletes, of a vector of size 0 on the device of `there`, or on the CPU if that is
   NULL. Returns NULL if torch refused. */
void *br_device_empty(int dtype, void *there);
/* r = a - v b, by handles. 0, or another number: torch refused. */
int br_device_subtract(void *r, void *a, void *b, double v);

#endif
