/* References that travel with a storage of bytes from one Lua state to another; the bytes refer to them by number. They
 * are freed with the storage, whether it was read or not. */
#ifndef BRIDGE_PASSED_REFERENCES_H
#define BRIDGE_PASSED_REFERENCES_H

#include "tensors/tensor.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
typedef struct br_passed br_passed;
/* NULL: out of memory. */
br_passed *br_passed_new(void);
void br_passed_free(br_passed *passed);
/* Take over a reference that `free` gives back. Returns its number, or -1: out of memory, not taken. */
int64_t br_passed_add(br_passed *passed, void *data, void (*free)(void *));
/* Attach the references to a storage, which from now on owns `passed`. */
void br_passed_attach(br_passed *passed, br_storage *storage);
/* The storage's reference with this number, if its kind is the one that `free` gives back; the storage keeps it. NULL:
   there is none. */
void *br_passed_find(const br_storage *storage, int64_t number, void (*free)(void *));
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

#endif
