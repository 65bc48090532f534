#include "tds/tds.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* A string: the number of references, then the bytes. */
typedef struct text {
   int refcount;
   char bytes[];
} text;

static text *text_of(const tds_elem *elem)
{
   return (text *)(elem->value.string.data - offsetof(text, bytes));
}

void tds_elem_set_number(tds_elem *elem, double number)
{
   elem->type = TDS_NUMBER;
   elem->value.number = number;
}

void tds_elem_set_boolean(tds_elem *elem, int boolean)
{
   elem->type = TDS_BOOLEAN;
   elem->value.boolean = boolean != 0;
}

int tds_elem_set_string(tds_elem *elem, const char *data, size_t size)
{
   text *made = malloc(sizeof *made + size + 1);
   if (!made) return -1;
   made->refcount = 1;
   memcpy(made->bytes, data, size);
   made->bytes[size] = 0;
   elem->type = TDS_STRING;
   elem->value.string.data = made->bytes;
   elem->value.string.size = size;
   return 0;
}

void tds_elem_set_pointer(tds_elem *elem, void *data, void (*give_back)(void *))
{
   elem->type = TDS_POINTER;
   elem->borrowed = 0;
   elem->value.pointer.data = data;
   elem->value.pointer.free = give_back;
}

int tds_elem_type(const tds_elem *elem) { return elem->type; }
double tds_elem_get_number(const tds_elem *elem) { return elem->value.number; }
int tds_elem_get_boolean(const tds_elem *elem) { return elem->value.boolean; }
const char *tds_elem_get_string(const tds_elem *elem) { return elem->value.string.data; }
size_t tds_elem_get_string_size(const tds_elem *elem) { return elem->value.string.size; }
void *tds_elem_get_pointer(const tds_elem *elem) { return elem->value.pointer.data; }

/* Take a reference to what the pointer refers to. 0: its kind is a program's own, so the copy only borrows the pointer,
   and the program's getter takes a reference. */
static int retain(void *data, void (*give_back)(void *))
{
#define IF(type) \
   if (give_back == (void (*)(void *))type##_free) { \
      type##_retain(data); \
      return 1; \
   }
   IF(tds_tensor)
   IF(tds_hash)
   IF(tds_vec)
   IF(tds_atomic)
#undef IF
   if (give_back == (void (*)(void *))br_storage_release) {
      br_storage_retain(data);
      return 1;
   }
   return 0;
}

void tds_elem_copy(tds_elem *to, const tds_elem *from)
{
   *to = *from;
   if (from->type == TDS_STRING) tds_retained(&text_of(from)->refcount);
   else if (from->type == TDS_POINTER)
      to->borrowed = !retain(from->value.pointer.data, from->value.pointer.free);
}

void tds_elem_free_content(tds_elem *elem)
{
   int type = elem->type;
   elem->type = TDS_NIL;
   if (type == TDS_STRING) {
      if (tds_released(&text_of(elem)->refcount)) free(text_of(elem));
   } else if (type == TDS_POINTER && !elem->borrowed && elem->value.pointer.free)
      elem->value.pointer.free(elem->value.pointer.data);
}

static __thread tds_doomed *doomed;
static __thread int destroying;

void tds_doom(tds_doomed *object)
{
   object->next = doomed;
   doomed = object;
   if (destroying) return;
   destroying = 1;
   while (doomed) {
      tds_doomed *next = doomed;
      doomed = next->next;
      next->destroy(next);
   }
   destroying = 0;
}

/* ---- counters */

struct tds_atomic_counter {
   int64_t count;
   int refcount;
};

tds_atomic_counter *tds_atomic_new(void)
{
   tds_atomic_counter *counter = calloc(1, sizeof *counter);
   if (counter) counter->refcount = 1;
   return counter;
}

void tds_atomic_retain(tds_atomic_counter *counter) { tds_retained(&counter->refcount); }

void tds_atomic_free(tds_atomic_counter *counter)
{
   if (tds_released(&counter->refcount)) free(counter);
}

int64_t tds_atomic_get(tds_atomic_counter *counter) { return __atomic_load_n(&counter->count, __ATOMIC_SEQ_CST); }

void tds_atomic_set(tds_atomic_counter *counter, int64_t value)
{
   __atomic_store_n(&counter->count, value, __ATOMIC_SEQ_CST);
}

int64_t tds_atomic_add(tds_atomic_counter *counter, int64_t value)
{
   return __atomic_fetch_add(&counter->count, value, __ATOMIC_SEQ_CST);
}

int64_t tds_atomic_inc(tds_atomic_counter *counter) { return tds_atomic_add(counter, 1); }

char tds_has_atomic(void) { return 1; }

/* ---- tensors */

struct tds_tensor {
   pthread_mutex_t lock;   /* guards all but refcount */
   int refcount;
   int dtype;
   int nDimension;
   int64_t *size;          /* the sizes, then the strides */
   br_storage *storage;
   ptrdiff_t storageOffset;
};

tds_tensor *tds_tensor_new(void)
{
   tds_tensor *box = calloc(1, sizeof *box);
   if (!box) return NULL;
   pthread_mutex_init(&box->lock, NULL);
   box->refcount = 1;
   return box;
}

void tds_tensor_retain(tds_tensor *box) { tds_retained(&box->refcount); }

void tds_tensor_free(tds_tensor *box)
{
   if (!tds_released(&box->refcount)) return;
   br_storage_release(box->storage);
   free(box->size);
   pthread_mutex_destroy(&box->lock);
   free(box);
}

int tds_tensor_dtype(tds_tensor *box)
{
   pthread_mutex_lock(&box->lock);
   int dtype = box->dtype;
   pthread_mutex_unlock(&box->lock);
   return dtype;
}

int tds_tensor_store(tds_tensor *box, const br_tensor *tensor)
{
   int n = tensor->nDimension;
   int64_t *size = malloc(sizeof *size * 2 * (size_t)(n ? n : 1));
   if (!size) return -1;
   memcpy(size, tensor->size, sizeof *size * (size_t)n);
   memcpy(size + n, tensor->stride, sizeof *size * (size_t)n);
   if (tensor->storage) br_storage_retain(tensor->storage);
   pthread_mutex_lock(&box->lock);
   int64_t *old_size = box->size;
   br_storage *old_storage = box->storage;
   box->size = size;
   box->storage = tensor->storage;
   box->dtype = tensor->dtype;
   box->nDimension = n;
   box->storageOffset = tensor->storageOffset;
   pthread_mutex_unlock(&box->lock);
   free(old_size);
   br_storage_release(old_storage);
   return 0;
}

int tds_tensor_load(tds_tensor *box, br_tensor *tensor)
{
   pthread_mutex_lock(&box->lock);
   int n = box->nDimension;
   int rc = br_tensor_reserve(tensor, n);
   if (rc == 0) {
      memcpy(tensor->size, box->size, sizeof *box->size * (size_t)n);
      memcpy(tensor->stride, box->size + n, sizeof *box->size * (size_t)n);
      tensor->nDimension = n;
      tensor->storageOffset = box->storageOffset;
      br_tensor_set_storage(tensor, box->storage);
   }
   pthread_mutex_unlock(&box->lock);
   return rc;
}
