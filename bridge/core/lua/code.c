#include "lua/code.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Entries are added but never changed or removed, so a lookup needs no lock, not even in a forked child. */
typedef struct entry {
   struct entry *next;
   size_t key_length, length;
   char bytes[];  /* the key, then the code */
} entry;

enum { BUCKETS = 2048 };

static entry *buckets[BUCKETS];

static entry **bucket(const char *key, size_t length)
{
   uint32_t hash = 2166136261u;  /* FNV-1a */
   for (size_t i = 0; i < length; i++) hash = (hash ^ (unsigned char)key[i]) * 16777619u;
   return &buckets[(hash ^ hash >> 16) % BUCKETS];
}

static const entry *find(entry *const *place, const char *key, size_t length)
{
   for (const entry *e = __atomic_load_n(place, __ATOMIC_ACQUIRE); e; e = e->next)
      if (e->key_length == length && !memcmp(e->bytes, key, length)) return e;
   return NULL;
}

int br_code_load(lua_State *L)
{
   size_t length;
   const char *key = lua.lua_tolstring(L, 1, &length);
   const entry *e = key ? find(bucket(key, length), key, length) : NULL;
   if (!e) return 0;
   if (lua.luaL_loadbuffer(L, e->bytes + length, e->length, "=(code)")) return lua.lua_error(L);
   return 1;
}

int br_code_keep(lua_State *L)
{
   size_t key_length, length;
   const char *key = lua.lua_tolstring(L, 1, &key_length), *code = lua.lua_tolstring(L, 2, &length);
   entry *e = key && code ? malloc(sizeof *e + key_length + length) : NULL;
   if (!e) return 0;  /* not kept: the next state compiles the file again */
   e->key_length = key_length;
   e->length = length;
   memcpy(e->bytes, key, key_length);
   memcpy(e->bytes + key_length, code, length);
   entry **place = bucket(key, key_length);
   e->next = __atomic_load_n(place, __ATOMIC_ACQUIRE);
   do {
      if (find(&e->next, key, key_length)) {
         free(e);
         return 0;
      }
   } while (!__atomic_compare_exchange_n(place, &e->next, e, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
   return 0;
}

int br_code_stamp(lua_State *L)
{
   const char *name = lua.lua_tolstring(L, 1, NULL);
   struct stat info;
   if (!name || stat(name, &info)) return 0;
   int64_t stamp[] = {info.st_dev, info.st_ino, info.st_size, info.st_mtim.tv_sec, info.st_mtim.tv_nsec,
                      info.st_ctim.tv_sec, info.st_ctim.tv_nsec};
   lua.lua_pushlstring(L, (const char *)stamp, sizeof stamp);
   return 1;
}
