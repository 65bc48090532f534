/* What a state keeps for the calls that cross the border: functions, keys and places of its registry.
 *
 * Outside of a protected call, where Python's frames are, nothing may ask Lua for memory: an error there would end the
 * process. So everything that such code pushes is made once, when the state is, and found again by its number. */
#ifndef BRIDGE_PINNED_H
#define BRIDGE_PINNED_H

#include <stdint.h>
#include "../core/module.h"

/* Where torch/arguments.lua leaves what an error text does not say. */
#define BR_DETAIL "bridge.detail"

typedef struct br_pinned {
   int on_error, enter_lua, push_only, take_reference, collect; /* the C functions of trampoline.h */
   int traceback;                                      /* a place for the traceback of the last error */
   int typename;                                       /* the string "__typename" */
   int callables, objects, lent;                       /* weak tables of what stands for a Python object */
} br_pinned;

/* An address as a Lua value. Not a light userdata, for which LuaJIT may need memory; a double holds every address. */
static inline void br_push_address(lua_State *L, const void *address)
{
   lua.lua_pushnumber(L, (double)(uintptr_t)address);
}

static inline void *br_to_address(lua_State *L, int index)
{
   return (void *)(uintptr_t)lua.lua_tonumber(L, index);
}

#endif
