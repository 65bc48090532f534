#include "module.h"
#include "files/objects.h"
#include "lua/code.h"

#include <string.h>

static int newtensor(lua_State *L)
{
   int dtype = (int)lua.lua_tonumber(L, 2);
   br_tensor *tensor = lua.lua_newuserdata(L, sizeof *tensor);
   br_tensor_init(tensor, dtype);
   lua.lua_pushvalue(L, 1);
   lua.lua_setmetatable(L, -2);
   return 1;
}

/* row(metatable, tensor, i): tensor[i] as a new tensor; i counts from 1, or back from -1, the last. Nil if there is no
   such row or the tensor has only one dimension. One C function instead of several calls from Lua, because a loop over
   a matrix needs it for every row. */
static int row(lua_State *L)
{
   const br_tensor *t = lua.lua_touserdata(L, 2);
   double at = lua.lua_tonumber(L, 3);
   int n = t->nDimension - 1;
   if (!(at > -9e15 && at < 9e15) || n < 1) return 0;
   int64_t i = (int64_t)at;
   if (i < 0) i += t->size[0] + 1;
   if (i < 1 || i > t->size[0]) return 0;
   br_tensor *r = lua.lua_newuserdata(L, sizeof *r);
   br_tensor_init(r, t->dtype);
   lua.lua_pushvalue(L, 1);
   lua.lua_setmetatable(L, -2);
   if (br_tensor_reserve(r, n)) return 0;
   br_tensor_set_storage(r, t->storage);
   memcpy(r->size, t->size + 1, (size_t)n * sizeof *r->size);
   memcpy(r->stride, t->stride + 1, (size_t)n * sizeof *r->stride);
   r->nDimension = n;
   r->storageOffset = t->storageOffset + (i - 1) * t->stride[0];
   return 1;
}

static int newstorage(lua_State *L)
{
   br_storage **storage = lua.lua_newuserdata(L, sizeof *storage);
   *storage = NULL;
   lua.lua_pushvalue(L, 1);
   lua.lua_setmetatable(L, -2);
   return 1;
}

/* A program can take a __gc function from a metatable and call it with anything, so each one checks its argument. A
 * storage or a reference is a userdata whose metatable has that very function. A tensor is recognised by its size
 * alone, which no other userdata has: there are many tensors, and this is faster. */
static int is_ours(lua_State *L, lua_CFunction collect)
{
   if (lua.lua_type(L, 1) != LUA_TUSERDATA || !lua.lua_getmetatable(L, 1)) return 0;
   lua.lua_getfield(L, -1, "__gc");
   int same = lua.lua_tocfunction(L, -1) == collect;
   lua_pop(L, 2);
   return same;
}

static int collect_tensor(lua_State *L)
{
   br_tensor *tensor = lua.lua_touserdata(L, 1);
   if (lua.lua_type(L, 1) == LUA_TUSERDATA && lua.lua_objlen(L, 1) == sizeof *tensor) br_tensor_clear(tensor);
   return 0;
}

/* Another finalizer may still get hold of the userdata: without a metatable it does not count as a storage. */
static int collect_storage(lua_State *L)
{
   br_storage **storage = lua.lua_touserdata(L, 1);
   if (!is_ours(L, collect_storage)) return 0;
   br_storage_release(*storage);
   *storage = NULL;
   lua.lua_settop(L, 1);
   lua.lua_pushnil(L);
   lua.lua_setmetatable(L, 1);
   return 0;
}

static int collect_reference(lua_State *L)
{
   br_reference *reference = lua.lua_touserdata(L, 1);
   if (is_ours(L, collect_reference) && reference->drop) {
      br_drop_later(reference->drop);
      reference->drop = NULL;
   }
   return 0;
}

int luaopen_bridge_core(lua_State *L)
{
   static const struct { const char *name; lua_CFunction f; } functions[] = {
      {"newtensor", newtensor},
      {"newstorage", newstorage},
      {"row", row},
      {"collect_tensor", collect_tensor},
      {"collect_storage", collect_storage},
      {"collect_reference", collect_reference},
      {"readobject", br_read_object},
      {"writeobject", br_write_object},
      {"code", br_code_load},
      {"keepcode", br_code_keep},
      {"filestamp", br_code_stamp},
   };
   lua.lua_createtable(L, 0, 16);
   for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
      lua.lua_pushcclosure(L, functions[i].f, 0);
      lua.lua_setfield(L, -2, functions[i].name);
   }
   return 1;
}
