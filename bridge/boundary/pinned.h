/* Values in a state's registry that calls across the boundary need: functions, keys, and places for results.
 *
 * Outside of a protected call, code must not make Lua allocate memory: if that failed, Lua would end the process. So
 * everything that such code pushes is made together with the state and found by its number in the registry. */
#ifndef BRIDGE_PINNED_H
#define BRIDGE_PINNED_H

#include <stdint.h>
#include "../core/module.h"

/* The registry key under which torch/arguments.lua keeps details that an error's text does not have. */
#define BR_DETAIL "bridge.detail"

typedef struct br_pinned {
   int on_error, enter_lua, push_only, take_reference, collect; /* the C functions of trampoline.h */
   int traceback;                                      /* where the traceback of the last error is kept */
   int typename;                                       /* the string "__typename" */
   int callables, objects, lent;                       /* weak tables: address of a Python object -> its Lua value */
} br_pinned;

/* An address as a Lua number, which can hold every address. For a light userdata LuaJIT may have to allocate memory. */
static inline void br_push_address(lua_State *L, const void *address)
{
   lua.lua_pushnumber(L, (double)(uintptr_t)address);
}

static inline void *br_to_address(lua_State *L, int index)
{
   return (void *)(uintptr_t)lua.lua_tonumber(L, index);
}

#endif
