/* Preparing a new Lua state: its libraries, the values of pinned.h in its registry, and its table of native
   functions. */
#ifndef BRIDGE_PREPARE_H
#define BRIDGE_PREPARE_H

#include "interrupt.h"
#include "trampoline.h"

typedef struct br_birth {
   void *state;          /* the State, borrowed */
   br_heap *heap;
   br_known *known;
   br_pinned *pinned;
   int native;           /* reference of the table of native functions, for bridge/runtime/boot.lua */
} br_birth;

static int br_pin_function(lua_State *L, lua_CFunction function)
{
   lua.lua_pushcclosure(L, function, 0);
   return lua.luaL_ref(L, LUA_REGISTRYINDEX);
}

static int br_pin_weak_table(lua_State *L)
{
   lua.lua_createtable(L, 0, 0);
   lua.lua_createtable(L, 0, 1);
   lua.lua_pushstring(L, "v");
   lua.lua_setfield(L, -2, "__mode");
   lua.lua_setmetatable(L, -2);
   return lua.luaL_ref(L, LUA_REGISTRYINDEX);
}

static void br_pin(lua_State *L, br_pinned *pinned)
{
   lua.lua_pushboolean(L, 0);
   pinned->traceback = lua.luaL_ref(L, LUA_REGISTRYINDEX);
   lua.lua_pushboolean(L, 0);
   lua.lua_setfield(L, LUA_REGISTRYINDEX, BR_DETAIL);
   lua.lua_pushnumber(L, pinned->traceback);
   lua.lua_pushcclosure(L, br_on_error, 1);
   pinned->on_error = lua.luaL_ref(L, LUA_REGISTRYINDEX);
   pinned->enter_lua = br_pin_function(L, br_enter_lua);
   pinned->push_only = br_pin_function(L, br_push_only);
   pinned->take_reference = br_pin_function(L, br_take_reference);
   pinned->collect = br_pin_function(L, br_collect);
   lua.lua_pushstring(L, "__typename");
   pinned->typename = lua.luaL_ref(L, LUA_REGISTRYINDEX);
   pinned->callables = br_pin_weak_table(L);
   pinned->objects = br_pin_weak_table(L);
   pinned->lent = br_pin_weak_table(L);
}

/* Run by lua_cpcall with a br_birth. */
static int br_prepare(lua_State *L)
{
   br_birth *birth = (br_birth *)lua.lua_touserdata(L, 1);
   br_push_last_finalized(L);
   lua.luaL_openlibs(L);
   br_push_address(L, birth->state);
   lua.lua_setfield(L, LUA_REGISTRYINDEX, BR_STATE);
   br_pin(L, birth->pinned);
   luaopen_bridge_core(L);
   lua.lua_pushlightuserdata(L, birth->heap);
   lua.lua_setfield(L, -2, "heap");
   lua.lua_pushthread(L);
   lua.lua_setfield(L, -2, "main_thread");
   lua.lua_pushlightuserdata(L, birth->known);
   lua.lua_pushcclosure(L, br_register, 1);
   lua.lua_setfield(L, -2, "register");
   birth->native = lua.luaL_ref(L, LUA_REGISTRYINDEX);
   return 0;
}

#endif
