#include "tds/tds.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Pairs in the order of insertion, and a hash index (open addressing) into them. A removed pair stays, with a nil key,
   until the next rebuild, so that a program may remove pairs while it iterates over them. */
typedef struct pair {
   uint64_t code;
   tds_elem key;
   tds_elem value;
} pair;

struct tds_hash {
   tds_doomed doomed;      /* first: the object to destroy */
   pthread_mutex_t lock;   /* guards all but refcount */
   int refcount;
   int64_t live;           /* pairs with a key */
   int64_t used;           /* pairs, removed ones too */
   int64_t room;           /* for pairs */
   uint32_t *index;        /* slots: 0 empty, else a pair's number plus one */
   uint64_t mask;          /* number of slots minus one */
   pair *pairs;
};

static uint64_t mixed(uint64_t x)
{
   x ^= x >> 32;
   x *= 0xd6e8feb86659fd93ULL;
   x ^= x >> 32;
   x *= 0xd6e8feb86659fd93ULL;
   return x ^ x >> 32;
}

static uint64_t code_of(const tds_elem *key)
{
   uint64_t code = (uint64_t)(uintptr_t)&mixed;  /* a seed that differs from process to process */
   if (key->type == TDS_STRING) {
      const char *data = key->value.string.data;
      size_t left = key->value.string.size;
      for (; left >= 8; left -= 8, data += 8) {
         uint64_t word;
         memcpy(&word, data, 8);
         code = mixed(code ^ word) + 0x9e3779b97f4a7c15ULL;
      }
      uint64_t word = 0;
      memcpy(&word, data, left);
      return mixed(mixed(code ^ word) + key->value.string.size);
   }
   if (key->type == TDS_NUMBER) {
      double number = key->value.number + 0.0;  /* -0 is 0 */
      uint64_t word;
      memcpy(&word, &number, 8);
      return mixed(code ^ word);
   }
   if (key->type == TDS_POINTER) return mixed(code ^ (uint64_t)(uintptr_t)key->value.pointer.data);
   return mixed(code + (uint64_t)key->value.boolean);
}

static int same(const tds_elem *a, const tds_elem *b)
{
   if (a->type != b->type) return 0;
   switch (a->type) {
   case TDS_NUMBER: return a->value.number == b->value.number;
   case TDS_BOOLEAN: return a->value.boolean == b->value.boolean;
   case TDS_STRING:
      return a->value.string.size == b->value.string.size &&
             memcmp(a->value.string.data, b->value.string.data, a->value.string.size) == 0;
   case TDS_POINTER: return a->value.pointer.data == b->value.pointer.data;
   default: return 0;
   }
}

tds_hash *tds_hash_new(void)
{
   tds_hash *hash = calloc(1, sizeof *hash);
   if (!hash) return NULL;
   pthread_mutex_init(&hash->lock, NULL);
   hash->refcount = 1;
   return hash;
}

void tds_hash_retain(tds_hash *hash) { tds_retained(&hash->refcount); }

static void destroy(tds_doomed *object)
{
   tds_hash *hash = (tds_hash *)object;
   for (int64_t i = 0; i < hash->used; i++) {
      tds_elem_free_content(&hash->pairs[i].key);
      tds_elem_free_content(&hash->pairs[i].value);
   }
   free(hash->pairs);
   free(hash->index);
   pthread_mutex_destroy(&hash->lock);
   free(hash);
}

void tds_hash_free(tds_hash *hash)
{
   if (!tds_released(&hash->refcount)) return;
   hash->doomed.destroy = destroy;
   tds_doom(&hash->doomed);
}

int64_t tds_hash_size(tds_hash *hash)
{
   pthread_mutex_lock(&hash->lock);
   int64_t live = hash->live;
   pthread_mutex_unlock(&hash->lock);
   return live;
}

/* ---- with the lock held */

static pair *find(const tds_hash *hash, const tds_elem *key, uint64_t code)
{
   if (hash->live == 0) return NULL;
   for (uint64_t slot = code & hash->mask; hash->index[slot]; slot = (slot + 1) & hash->mask) {
      pair *found = &hash->pairs[hash->index[slot] - 1];
      if (found->code == code && same(&found->key, key)) return found;
   }
   return NULL;
}

static void enter(tds_hash *hash, int64_t number)
{
   uint64_t slot = hash->pairs[number].code & hash->mask;
   while (hash->index[slot]) slot = (slot + 1) & hash->mask;
   hash->index[slot] = (uint32_t)(number + 1);
}

/* Make room: copy the pairs, without the removed ones, into arrays with twice as much room as they need. */
static int rebuild(tds_hash *hash)
{
   uint64_t slots = 8;
   while (slots < 4 * (uint64_t)(hash->live + 1)) slots *= 2;
   int64_t room = (int64_t)(slots / 2);
   if (room >= UINT32_MAX) return -1;
   uint32_t *index = calloc(slots, sizeof *index);
   pair *pairs = malloc((size_t)room * sizeof *pairs);
   if (!index || !pairs) {
      free(index);
      free(pairs);
      return -1;
   }
   int64_t kept = 0;
   for (int64_t i = 0; i < hash->used; i++)
      if (hash->pairs[i].key.type != TDS_NIL) pairs[kept++] = hash->pairs[i];
   free(hash->index);
   free(hash->pairs);
   hash->index = index;
   hash->mask = slots - 1;
   hash->pairs = pairs;
   hash->room = room;
   hash->used = kept;
   for (int64_t i = 0; i < kept; i++) enter(hash, i);
   return 0;
}

/* The caller frees what `key` and `value` hold afterwards, without the lock. */
static int put(tds_hash *hash, tds_elem *key, tds_elem *value)
{
   uint64_t code = code_of(key);
   pair *found = find(hash, key, code);
   if (found) {
      tds_elem old = found->value;
      found->value = *value;
      *value = old;
      if (found->value.type == TDS_NIL) {
         tds_elem_free_content(key);  /* the hash's own key keeps the reference, so no container is destroyed here */
         *key = found->key;
         found->key.type = TDS_NIL;
         hash->live--;
      }
      return 0;
   }
   if (value->type == TDS_NIL) return 0;
   if (hash->used == hash->room && rebuild(hash)) return -1;
   pair *fresh = &hash->pairs[hash->used];
   fresh->code = code;
   fresh->key = *key;
   fresh->value = *value;
   key->type = value->type = TDS_NIL;
   enter(hash, hash->used++);
   hash->live++;
   return 0;
}

/* ---- */

int tds_hash_set(tds_hash *hash, tds_elem *key, tds_elem *value)
{
   pthread_mutex_lock(&hash->lock);
   int rc = put(hash, key, value);
   pthread_mutex_unlock(&hash->lock);
   tds_elem_free_content(key);
   tds_elem_free_content(value);
   return rc;
}

int tds_hash_get(tds_hash *hash, const tds_elem *key, tds_elem *value)
{
   uint64_t code = code_of(key);
   pthread_mutex_lock(&hash->lock);
   pair *found = find(hash, key, code);
   if (found) tds_elem_copy(value, &found->value);
   pthread_mutex_unlock(&hash->lock);
   return found != NULL;
}

int tds_hash_next(tds_hash *hash, int64_t *position, tds_elem *key, tds_elem *value)
{
   int found = 0;
   pthread_mutex_lock(&hash->lock);
   int64_t i = *position < 0 ? 0 : *position;
   while (i < hash->used && hash->pairs[i].key.type == TDS_NIL) i++;
   if (i < hash->used) {
      tds_elem_copy(key, &hash->pairs[i].key);
      tds_elem_copy(value, &hash->pairs[i].value);
      *position = i + 1;
      found = 1;
   }
   pthread_mutex_unlock(&hash->lock);
   return found;
}
