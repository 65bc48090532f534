/* tds: values in C memory, outside Lua's collector, that several Lua states in several threads may share.
 *
 * Hashes, vectors, counters and tensors are reference counted. A lock in each makes a single call atomic, so that
 * threads can share one safely. A program that needs several calls to be atomic together uses a mutex of its own. */
#ifndef BRIDGE_TDS_H
#define BRIDGE_TDS_H

#include "tensors/tensor.h"

#pragma GCC visibility push(default)

/* BRIDGE_CDEF begin */
enum { TDS_NIL, TDS_NUMBER, TDS_BOOLEAN, TDS_STRING, TDS_POINTER };

/* A value. A string has a size and ends with a zero byte; a pointer comes with the function that gives it back. */
typedef struct tds_elem {
   int type;
   int borrowed;        /* a pointer that is read, not owned */
   union {
      double number;
      int boolean;
      struct { char *data; size_t size; } string;
      struct { void *data; void (*free)(void *); } pointer;
   } value;
} tds_elem;

/* The setters write to an element that holds nothing. 0, or -1: out of memory. */
void tds_elem_set_number(tds_elem *elem, double number);
void tds_elem_set_boolean(tds_elem *elem, int boolean);
int tds_elem_set_string(tds_elem *elem, const char *data, size_t size);
void tds_elem_set_pointer(tds_elem *elem, void *data, void (*free)(void *));
int tds_elem_type(const tds_elem *elem);
double tds_elem_get_number(const tds_elem *elem);
int tds_elem_get_boolean(const tds_elem *elem);
const char *tds_elem_get_string(const tds_elem *elem);
size_t tds_elem_get_string_size(const tds_elem *elem);
void *tds_elem_get_pointer(const tds_elem *elem);
/* Give back what an element holds; the element becomes nil. */
void tds_elem_free_content(tds_elem *elem);

typedef struct tds_hash tds_hash;
/* One reference; NULL: out of memory. */
tds_hash *tds_hash_new(void);
void tds_hash_retain(tds_hash *hash);
void tds_hash_free(tds_hash *hash);
int64_t tds_hash_size(tds_hash *hash);
/* Takes over what both hold, even if it fails; a nil value removes the key. 0, or -1: out of memory. */
int tds_hash_set(tds_hash *hash, tds_elem *key, tds_elem *value);
/* 1 and a copy of the value, which the caller must free with tds_elem_free_content; 0: there is none. */
int tds_hash_get(tds_hash *hash, const tds_elem *key, tds_elem *value);
/* The first pair at or after *position, as copies; *position moves past it. 0: there is none. */
int tds_hash_next(tds_hash *hash, int64_t *position, tds_elem *key, tds_elem *value);

typedef struct tds_vec tds_vec;
tds_vec *tds_vec_new(void);
void tds_vec_retain(tds_vec *vec);
void tds_vec_free(tds_vec *vec);
int64_t tds_vec_size(tds_vec *vec);
/* Positions count from 0. -1: out of memory. */
int tds_vec_resize(tds_vec *vec, int64_t size);
/* Grows the vector where it must. */
int tds_vec_set(tds_vec *vec, int64_t position, tds_elem *value);
enum { TDS_END = -1 }; /* a position: after the last element */
int tds_vec_insert(tds_vec *vec, int64_t position, tds_elem *value);
/* Does nothing if there is no such position. */
void tds_vec_remove(tds_vec *vec, int64_t position);
/* 1 and a copy, or 0: there is no such position. */
int tds_vec_get(tds_vec *vec, int64_t position, tds_elem *value);
int tds_vec_sort(tds_vec *vec, int (*compare)(const tds_elem *, const tds_elem *));
/* Element i becomes the one that was at order[i]; `order` is a permutation of 0 .. n - 1. -1: out of memory, no
   permutation, or n is no longer the size. */
int tds_vec_reorder(tds_vec *vec, const int64_t *order, int64_t n);

typedef struct tds_atomic_counter tds_atomic_counter;
tds_atomic_counter *tds_atomic_new(void);
void tds_atomic_retain(tds_atomic_counter *counter);
void tds_atomic_free(tds_atomic_counter *counter);
int64_t tds_atomic_get(tds_atomic_counter *counter);
void tds_atomic_set(tds_atomic_counter *counter, int64_t value);
/* Add `value`, or one. Returns the value before. */
int64_t tds_atomic_add(tds_atomic_counter *counter, int64_t value);
int64_t tds_atomic_inc(tds_atomic_counter *counter);
/* Are there atomic counters? Always 1; programs ask. */
char tds_has_atomic(void);

/* A tensor's shape and a reference to its storage. */
typedef struct tds_tensor tds_tensor;
tds_tensor *tds_tensor_new(void);
void tds_tensor_retain(tds_tensor *box);
void tds_tensor_free(tds_tensor *box);
int tds_tensor_dtype(tds_tensor *box);
/* Store a Lua tensor in a box, or load one from it into an empty Lua tensor. 0, or -1: out of memory. */
int tds_tensor_store(tds_tensor *box, const br_tensor *tensor);
int tds_tensor_load(tds_tensor *box, br_tensor *tensor);
/* BRIDGE_CDEF end */

#pragma GCC visibility pop

/* Shared by the files of tds. */

/* `count` went down by one; was it the last? */
static inline int tds_released(int *count) { return __atomic_sub_fetch(count, 1, __ATOMIC_ACQ_REL) == 0; }
static inline void tds_retained(int *count) { __atomic_add_fetch(count, 1, __ATOMIC_RELAXED); }

/* A copy with references of its own. */
void tds_elem_copy(tds_elem *to, const tds_elem *from);

/* Call `destroy(object)`, after any other `destroy` that is running in this thread. So destroying containers within
   containers does not recurse. */
typedef struct tds_doomed {
   struct tds_doomed *next;
   void (*destroy)(struct tds_doomed *object);
} tds_doomed;
void tds_doom(tds_doomed *object);

#endif
