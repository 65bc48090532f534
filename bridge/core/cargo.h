/* References that travel with a storage of bytes from one Lua state to another: the bytes name them by number. They
 * are given back when the storage is freed, whether anybody has read it or not. */
#ifndef BRIDGE_CARGO_H
#define BRIDGE_CARGO_H

#include "tensor.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
typedef struct br_cargo br_cargo;
/* NULL: out of memory. */
br_cargo *br_cargo_new(void);
void br_cargo_free(br_cargo *cargo);
/* Takes over a reference, which `free` gives back; its number, or -1: out of memory, not taken. */
int64_t br_cargo_add(br_cargo *cargo, void *data, void (*free)(void *));
/* The cargo goes with the storage from now on. */
void br_cargo_load(br_cargo *cargo, br_storage *storage);
/* What has this number and this kind (told by `free`) in a storage's cargo, still the cargo's; NULL: there is none. */
void *br_cargo_find(const br_storage *storage, int64_t number, void (*free)(void *));
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

#endif
