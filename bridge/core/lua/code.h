/* Compiled Lua that all states of the process share, so that each file is compiled by the first state alone. It is
 * in memory only, made by this process from source that it has read itself. */
#ifndef BRIDGE_CODE_H
#define BRIDGE_CODE_H

#include "lua/lua_api.h"

/* code(key): the function of what is kept under a key; nil if nothing is. */
int br_code_load(lua_State *L);
/* keepcode(key, bytecode): what comes later under the same key is left out. */
int br_code_keep(lua_State *L);
/* filestamp(name): a string that changes when the file does; nil if there is none. */
int br_code_stamp(lua_State *L);

#endif
