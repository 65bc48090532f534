#include "tds/tds.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct tds_vec {
   tds_doomed doomed;      /* first: the object to destroy */
   pthread_mutex_t lock;   /* guards all but refcount */
   int refcount;
   int64_t size;
   int64_t room;
   tds_elem *data;
};

tds_vec *tds_vec_new(void)
{
   tds_vec *vec = calloc(1, sizeof *vec);
   if (!vec) return NULL;
   pthread_mutex_init(&vec->lock, NULL);
   vec->refcount = 1;
   return vec;
}

void tds_vec_retain(tds_vec *vec) { tds_retained(&vec->refcount); }

static void free_all(tds_elem *data, int64_t n)
{
   for (int64_t i = 0; i < n; i++) tds_elem_free_content(&data[i]);
   free(data);
}

static void destroy(tds_doomed *object)
{
   tds_vec *vec = (tds_vec *)object;
   free_all(vec->data, vec->size);
   pthread_mutex_destroy(&vec->lock);
   free(vec);
}

void tds_vec_free(tds_vec *vec)
{
   if (!tds_released(&vec->refcount)) return;
   vec->doomed.destroy = destroy;
   tds_doom(&vec->doomed);
}

int64_t tds_vec_size(tds_vec *vec)
{
   pthread_mutex_lock(&vec->lock);
   int64_t size = vec->size;
   pthread_mutex_unlock(&vec->lock);
   return size;
}

/* With the lock held: grow to at least `size` elements; new ones are nil. */
static int grow(tds_vec *vec, int64_t size)
{
   if (size <= vec->size) return 0;
   if (size > vec->room) {
      int64_t room = size > vec->room + vec->room / 2 ? size : vec->room + vec->room / 2;
      if (room > INT64_MAX / (int64_t)sizeof *vec->data) return -1;
      tds_elem *data = realloc(vec->data, (size_t)room * sizeof *data);
      if (!data) return -1;
      vec->data = data;
      vec->room = room;
   }
   memset(vec->data + vec->size, 0, (size_t)(size - vec->size) * sizeof *vec->data);
   vec->size = size;
   return 0;
}

int tds_vec_resize(tds_vec *vec, int64_t size)
{
   tds_elem *rest = NULL;
   int64_t n = 0;
   int rc = 0;
   if (size < 0) return -1;
   pthread_mutex_lock(&vec->lock);
   if (size >= vec->size) rc = grow(vec, size);
   else {
      n = vec->size - size;
      rest = malloc((size_t)n * sizeof *rest);
      if (rest) {
         memcpy(rest, vec->data + size, (size_t)n * sizeof *rest);
         vec->size = size;
      } else {
         n = 0;
         rc = -1;
      }
   }
   pthread_mutex_unlock(&vec->lock);
   free_all(rest, n);
   return rc;
}

int tds_vec_set(tds_vec *vec, int64_t position, tds_elem *value)
{
   int rc = -1;
   pthread_mutex_lock(&vec->lock);
   if (position >= 0 && position < INT64_MAX && (rc = grow(vec, position + 1)) == 0) {
      tds_elem old = vec->data[position];
      vec->data[position] = *value;
      *value = old;
   }
   pthread_mutex_unlock(&vec->lock);
   tds_elem_free_content(value);
   return rc;
}

int tds_vec_insert(tds_vec *vec, int64_t position, tds_elem *value)
{
   int rc = -1;
   pthread_mutex_lock(&vec->lock);
   int64_t old = vec->size;
   if (position == TDS_END) position = old;
   int64_t size = position > old ? position + 1 : old + 1;
   if (position >= 0 && position < INT64_MAX && (rc = grow(vec, size)) == 0) {
      if (position < old)
         memmove(vec->data + position + 1, vec->data + position, (size_t)(old - position) * sizeof *vec->data);
      vec->data[position] = *value;
      value->type = TDS_NIL;
   }
   pthread_mutex_unlock(&vec->lock);
   tds_elem_free_content(value);
   return rc;
}

void tds_vec_remove(tds_vec *vec, int64_t position)
{
   tds_elem gone = {0};
   pthread_mutex_lock(&vec->lock);
   if (position >= 0 && position < vec->size) {
      gone = vec->data[position];
      vec->size--;
      memmove(vec->data + position, vec->data + position + 1, (size_t)(vec->size - position) * sizeof *vec->data);
   }
   pthread_mutex_unlock(&vec->lock);
   tds_elem_free_content(&gone);
}

int tds_vec_get(tds_vec *vec, int64_t position, tds_elem *value)
{
   pthread_mutex_lock(&vec->lock);
   int found = position >= 0 && position < vec->size;
   if (found) tds_elem_copy(value, &vec->data[position]);
   pthread_mutex_unlock(&vec->lock);
   return found;
}

/* A copy of an element, and its position in the vector. */
typedef struct item {
   tds_elem elem;
   int64_t position;
} item;

/* Sorts back and forth between `data` and `other`; returns the one that holds the result. */
static item *merge_sort(item *data, item *other, int64_t n, int (*compare)(const tds_elem *, const tds_elem *))
{
   for (int64_t width = 1; width < n; width *= 2) {
      for (int64_t start = 0; start < n; start += 2 * width) {
         int64_t middle = start + width < n ? start + width : n;
         int64_t end = start + 2 * width < n ? start + 2 * width : n;
         int64_t a = start, b = middle;
         for (int64_t i = start; i < end; i++)
            other[i] = a < middle && (b >= end || compare(&data[a].elem, &data[b].elem) <= 0) ? data[a++] : data[b++];
      }
      item *swap = data;
      data = other;
      other = swap;
   }
   return data;
}

/* The comparison may be a callback that uses the vector, so it works on copies without the lock. */
int tds_vec_sort(tds_vec *vec, int (*compare)(const tds_elem *, const tds_elem *))
{
   pthread_mutex_lock(&vec->lock);
   int64_t n = vec->size;
   item *copies = malloc((size_t)(2 * n + 1) * sizeof *copies);
   int64_t *order = malloc((size_t)(n + 1) * sizeof *order);
   int made = copies && order;
   for (int64_t i = 0; made && i < n; i++) {
      tds_elem_copy(&copies[i].elem, &vec->data[i]);
      copies[i].position = i;
   }
   pthread_mutex_unlock(&vec->lock);
   int rc = -1;
   if (made) {
      item *sorted = merge_sort(copies, copies + n, n, compare);
      for (int64_t i = 0; i < n; i++) order[i] = sorted[i].position;
      for (int64_t i = 0; i < n; i++) tds_elem_free_content(&sorted[i].elem);
      rc = tds_vec_reorder(vec, order, n);
   }
   free(copies);
   free(order);
   return rc;
}

int tds_vec_reorder(tds_vec *vec, const int64_t *order, int64_t n)
{
   tds_elem *moved = calloc((size_t)n + 1, sizeof *moved);
   char *seen = calloc((size_t)n + 1, 1);
   int rc = -1;
   if (moved && seen) {
      int64_t i = 0;
      for (; i < n && order[i] >= 0 && order[i] < n && !seen[order[i]]; i++) seen[order[i]] = 1;
      pthread_mutex_lock(&vec->lock);
      if (i == n && n == vec->size) {
         for (i = 0; i < n; i++) moved[i] = vec->data[order[i]];
         memcpy(vec->data, moved, (size_t)n * sizeof *moved);
         rc = 0;
      }
      pthread_mutex_unlock(&vec->lock);
   }
   free(moved);
   free(seen);
   return rc;
}
