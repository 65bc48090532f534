#include "module.h"
#include "objects.h"

static int newtensor(lua_State *L)
{
   int dtype = (int)lua.lua_tonumber(L, 2);
   br_tensor *tensor = lua.lua_newuserdata(L, sizeof *tensor);
   br_tensor_init(tensor, dtype);
   lua.lua_pushvalue(L, 1);
   lua.lua_setmetatable(L, -2);
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

static int collect_tensor(lua_State *L)
{
   br_tensor *tensor = lua.lua_touserdata(L, 1);
   if (tensor) br_tensor_clear(tensor);
   return 0;
}

static int collect_storage(lua_State *L)
{
   br_storage **storage = lua.lua_touserdata(L, 1);
   if (storage) {
      br_storage_release(*storage);
      *storage = NULL;
   }
   return 0;
}

static int collect_reference(lua_State *L)
{
   br_reference *reference = lua.lua_touserdata(L, 1);
   if (reference && reference->drop) {
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
      {"collect_tensor", collect_tensor},
      {"collect_storage", collect_storage},
      {"collect_reference", collect_reference},
      {"readobject", br_read_object},
      {"writeobject", br_write_object},
   };
   lua.lua_createtable(L, 0, 8);
   for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
      lua.lua_pushcclosure(L, functions[i].f, 0);
      lua.lua_setfield(L, -2, functions[i].name);
   }
   return 1;
}
