/* Byte code of Lua files that all Lua states of the process share, so that only the first one compiles a file. It is
 * kept in memory, never on disk: a state runs no byte code but that which this process compiled. */
#ifndef BRIDGE_CODE_H
#define BRIDGE_CODE_H

#include "lua/lua_api.h"

/* code(key): a function made of the byte code kept under `key`; nil if there is none. */
int br_code_load(lua_State *L);
/* keepcode(key, bytecode): keep byte code under a key; does nothing if the key already has some. */
int br_code_keep(lua_State *L);
/* filestamp(name): a string that changes when the file does; nil if there is no such file. */
int br_code_stamp(lua_State *L);

#endif
