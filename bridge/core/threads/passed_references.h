/* References that travel with a storage of bytes from one Lua state to another: the bytes name them by number. They
 * are given back when the storage is freed, whether anybody has read it or not. */
#ifndef BRIDGE_PASSED_REFERENCES_H
#define BRIDGE_PASSED_REFERENCES_H

#include "tensors/tensor.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
typedef struct br_passed br_passed;
/* NULL: out of memory. */
br_passed *br_passed_new(void);
void br_passed_free(br_passed *passed);
/* Takes over a reference, which `free` gives back; its number, or -1: out of memory, not taken. */
int64_t br_passed_add(br_passed *passed, void *data, void (*free)(void *));
/* The references go with the storage from now on. */
void br_passed_attach(br_passed *passed, br_storage *storage);
/* The reference with this number and kind (told by `free`) in a storage, which keeps it; NULL: there is none. */
void *br_passed_find(const br_storage *storage, int64_t number, void (*free)(void *));
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

#endif
