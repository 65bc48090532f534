/* The C half of a small Torch7 for tests: TH's structs, reference counts and allocator, behind luaT's userdata.
 *
 * What is laid out, counted and given back as TH does it is what the boundary relies on. Memory lies in pages of its own,
 * which nobody can read any more once it is given back: who still does dies at once and not by chance. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { REFCOUNTED = 1, RESIZABLE = 2, FREEMEM = 4, PAGE = 4096 };

typedef struct {
   void *(*malloc)(void *, ptrdiff_t);
   void *(*realloc)(void *, void *, ptrdiff_t);
   void (*free)(void *, void *);
} allocator;

typedef struct storage {
   void *data;
   ptrdiff_t size;
   int refcount;
   char flag;
   allocator *allocator;
   void *allocatorContext;
   struct storage *view;
} storage;

typedef struct {
   int64_t *size, *stride;
   int nDimension;
   storage *storage;
   ptrdiff_t storageOffset;
   int refcount;
   char flag;
} tensor;

typedef struct lua_State lua_State;

/* ---- what each thread knows by itself: whose errors are raised, and who collects when much memory was taken */

enum { MUCH = 64 << 20 };

static __thread lua_State *raises, *collects;
static __thread ptrdiff_t taken, limit = MUCH;

int lua_gc(lua_State *, int, int);
int luaL_error(lua_State *, const char *, ...);

static void take_note(ptrdiff_t size)
{
   taken += size;
   if (size > 0 && taken > limit && collects) {
      lua_gc(collects, 2, 0);
      limit = 2 * taken > MUCH ? 2 * taken : MUCH;
   }
}

static void fail(const char *message)
{
   if (raises) luaL_error(raises, "%s", message);
   printf("$ Error: %s\n", message);
   exit(-1);
}

/* ---- memory: a page for its length, then whole pages, which are cut off when they are freed */

static void *pages_malloc(void *context, ptrdiff_t size)
{
   (void)context;
   take_note(size);
   size_t length = PAGE + ((size_t)size + PAGE - 1) / PAGE * PAGE;
   char *start = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
   if (start == MAP_FAILED) return NULL;
   memcpy(start, &length, sizeof length);
   return start + PAGE;
}

static void pages_free(void *context, void *data)
{
   (void)context;
   if (!data) return;
   size_t length;
   memcpy(&length, (char *)data - PAGE, sizeof length);
   take_note(PAGE - (ptrdiff_t)length);
   mmap((char *)data - PAGE, length, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

static void *pages_realloc(void *context, void *data, ptrdiff_t size)
{
   void *moved = pages_malloc(context, size);
   if (moved && data) {
      size_t length;
      memcpy(&length, (char *)data - PAGE, sizeof length);
      memcpy(moved, data, (size_t)size < length - PAGE ? (size_t)size : length - PAGE);
      pages_free(context, data);
   }
   return moved;
}

static allocator standard = {pages_malloc, pages_realloc, pages_free};

/* ---- storages */

storage *th_storage_new(ptrdiff_t size, int itemsize)
{
   storage *made = calloc(1, sizeof *made);
   *made = (storage){size ? standard.malloc(NULL, size * itemsize) : NULL, size, 1,
                     REFCOUNTED | RESIZABLE | FREEMEM, &standard, NULL, NULL};
   return made;
}

storage *th_storage_over(void *data, ptrdiff_t size)
{
   storage *made = th_storage_new(0, 1);
   made->data = data;
   made->size = size;
   made->flag = REFCOUNTED;
   return made;
}

void th_storage_free(storage *self)
{
   if (!(self->flag & REFCOUNTED) || __atomic_sub_fetch(&self->refcount, 1, __ATOMIC_ACQ_REL)) return;
   if (self->flag & FREEMEM) self->allocator->free(self->allocatorContext, self->data);
   free(self);
}

/* 0, or -1: this storage cannot be resized. */
int th_storage_resize(storage *self, ptrdiff_t size, int itemsize)
{
   if (!(self->flag & RESIZABLE)) return -1;
   if (self->allocator->realloc) {
      self->data = self->allocator->realloc(self->allocatorContext, self->data, size * itemsize);
   } else {
      void *old = self->data;
      ptrdiff_t both = size < self->size ? size : self->size;
      self->data = size ? self->allocator->malloc(self->allocatorContext, size * itemsize) : NULL;
      if (old && both) memcpy(self->data, old, (size_t)(both * itemsize));
      if (old) self->allocator->free(self->allocatorContext, old);
   }
   self->size = size;
   return 0;
}

/* ---- tensors */

tensor *th_tensor_new(void)
{
   tensor *made = calloc(1, sizeof *made);
   made->refcount = made->flag = 1;
   return made;
}

void th_tensor_free(tensor *self)
{
   if (__atomic_sub_fetch(&self->refcount, 1, __ATOMIC_ACQ_REL)) return;
   if (self->storage) th_storage_free(self->storage);
   free(self->size);
   free(self->stride);
   free(self);
}

/* Put a tensor over a storage (NULL: its own); a stride below 0 is counted from the sizes that follow. 0, or -1: the
   storage is too small and cannot be resized. */
int th_tensor_place(tensor *self, storage *over, ptrdiff_t offset, int n, const int64_t *size, const int64_t *stride,
                    int itemsize)
{
   if (over && over != self->storage) {
      __atomic_add_fetch(&over->refcount, 1, __ATOMIC_ACQ_REL);
      if (self->storage) th_storage_free(self->storage);
      self->storage = over;
   }
   int64_t *sizes = malloc(sizeof *sizes * (size_t)(n + 1)), *strides = malloc(sizeof *strides * (size_t)(n + 1));
   int64_t reach = 1;
   for (int d = n - 1; d >= 0; d--) {
      sizes[d] = size[d];
      strides[d] = stride && stride[d] >= 0 ? stride[d] : d == n - 1 ? 1 : sizes[d + 1] * strides[d + 1];
      reach += (size[d] - 1) * strides[d];
   }
   free(self->size);
   free(self->stride);
   self->size = sizes;
   self->stride = strides;
   self->nDimension = n;
   self->storageOffset = offset;
   if (n == 0) return 0;
   if (!self->storage) self->storage = th_storage_new(0, itemsize);
   return reach + offset > self->storage->size ? th_storage_resize(self->storage, reach + offset, itemsize) : 0;
}

/* ---- Lua */

void *lua_newuserdata(lua_State *, size_t);
double lua_tonumber(lua_State *, int);
const char *lua_tolstring(lua_State *, int, size_t *);
int lua_toboolean(lua_State *, int);
void lua_createtable(lua_State *, int, int);
void lua_setfield(lua_State *, int, const char *);
void lua_pushvalue(lua_State *, int);
void lua_pushcclosure(lua_State *, int (*)(lua_State *), int);
int lua_setmetatable(lua_State *, int);
int lua_pcall(lua_State *, int, int, int);
void lua_close(lua_State *);
lua_State *luaL_newstate(void);
void luaL_openlibs(lua_State *);
int luaL_loadstring(lua_State *, const char *);

/* As luaT does it: a userdata that holds the struct's address. */
static int pointer(lua_State *L)
{
   *(void **)lua_newuserdata(L, sizeof(void *)) = (void *)(uintptr_t)lua_tonumber(L, 1);
   lua_pushvalue(L, 2);
   lua_setmetatable(L, -2);
   return 1;
}

/* Of a message and whether all is well; who asks runs in `L`, but the error is raised in the thread's state. */
static int check(lua_State *L)
{
   if (!lua_toboolean(L, 2)) fail(lua_tolstring(L, 1, NULL));
   return 0;
}

static int updateerrorhandlers(lua_State *L)
{
   raises = L;
   return 0;
}

static int setheaptracking(lua_State *L)
{
   collects = lua_toboolean(L, 1) ? L : NULL;
   return 0;
}

int luaopen_libtorch(lua_State *L)
{
   static const struct { const char *name; int (*function)(lua_State *); } functions[] = {
      {"pointer", pointer}, {"check", check}, {"updateerrorhandlers", updateerrorhandlers},
      {"setheaptracking", setheaptracking},
   };
   lua_createtable(L, 0, 4);
   for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
      lua_pushcclosure(L, functions[i].function, 0);
      lua_setfield(L, -2, functions[i].name);
   }
   return 1;
}

typedef struct {
   const char *code;
   char *said;
   size_t room;
} job;

static void *work(void *argument)
{
   job *one = argument;
   lua_State *L = luaL_newstate();
   luaL_openlibs(L);
   if (!luaL_loadstring(L, one->code)) lua_pcall(L, 0, 1, 0);
   const char *said = lua_tolstring(L, -1, NULL);
   snprintf(one->said, one->room, "%s", said ? said : "nothing");
   lua_close(L);
   return NULL;
}

/* Run code in a state of its own on a thread of its own; what it returns, or its error, goes to `said`. */
int th_run(const char *code, char *said, size_t room)
{
   job one = {code, said, room};
   pthread_t thread;
   return pthread_create(&thread, NULL, work, &one) || pthread_join(thread, NULL);
}
