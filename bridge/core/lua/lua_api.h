/* The Lua C API, reached through a table of function pointers.
 *
 * The LuaJIT that runs our code lives inside lupa's extension module, whose symbols stay private to it.
 * `lua_api_load` fills the table from that module's handle; nothing here is compiled against Lua's headers. */
#ifndef BRIDGE_LUA_API_H
#define BRIDGE_LUA_API_H

#include <stddef.h>

typedef struct lua_State lua_State;
typedef struct lua_Debug lua_Debug;
typedef int (*lua_CFunction)(lua_State *L);
typedef void (*lua_Hook)(lua_State *L, lua_Debug *ar);
typedef void (*lua_ProfileCallback)(void *data, lua_State *L, int samples, int vmstate);

enum {
   LUA_REGISTRYINDEX = -10000,
   LUA_GLOBALSINDEX = -10002,
   LUA_MULTRET = -1
};

enum {
   LUA_TNONE = -1, LUA_TNIL, LUA_TBOOLEAN, LUA_TLIGHTUSERDATA, LUA_TNUMBER, LUA_TSTRING, LUA_TTABLE,
   LUA_TFUNCTION, LUA_TUSERDATA, LUA_TTHREAD, LUA_TPROTO, LUA_TCDATA
};

enum { LUA_ERRRUN = 2, LUA_ERRSYNTAX, LUA_ERRMEM, LUA_ERRERR };
enum { LUA_GCCOLLECT = 2, LUA_GCCOUNT = 3, LUA_GCSTEP = 5 };
enum { LUA_MASKCALL = 1, LUA_MASKRET = 2, LUA_MASKLINE = 4, LUA_MASKCOUNT = 8 };

/* X(result, name, parameters) */
#define LUA_API_FUNCTIONS(X) \
   X(int, lua_gettop, (lua_State *L)) \
   X(void, lua_settop, (lua_State *L, int index)) \
   X(void, lua_pushvalue, (lua_State *L, int index)) \
   X(void, lua_remove, (lua_State *L, int index)) \
   X(void, lua_insert, (lua_State *L, int index)) \
   X(void, lua_replace, (lua_State *L, int index)) \
   X(int, lua_checkstack, (lua_State *L, int slots)) \
   X(int, lua_type, (lua_State *L, int index)) \
   X(int, lua_rawequal, (lua_State *L, int a, int b)) \
   X(double, lua_tonumber, (lua_State *L, int index)) \
   X(int, lua_toboolean, (lua_State *L, int index)) \
   X(const char *, lua_tolstring, (lua_State *L, int index, size_t *length)) \
   X(size_t, lua_objlen, (lua_State *L, int index)) \
   X(void *, lua_touserdata, (lua_State *L, int index)) \
   X(const void *, lua_topointer, (lua_State *L, int index)) \
   X(lua_State *, lua_tothread, (lua_State *L, int index)) \
   X(lua_CFunction, lua_tocfunction, (lua_State *L, int index)) \
   X(const char *, lua_getupvalue, (lua_State *L, int function, int n)) \
   X(void, lua_pushnil, (lua_State *L)) \
   X(void, lua_pushnumber, (lua_State *L, double n)) \
   X(void, lua_pushinteger, (lua_State *L, ptrdiff_t n)) \
   X(void, lua_pushlstring, (lua_State *L, const char *s, size_t length)) \
   X(void, lua_pushstring, (lua_State *L, const char *s)) \
   X(void, lua_pushcclosure, (lua_State *L, lua_CFunction f, int upvalues)) \
   X(void, lua_pushboolean, (lua_State *L, int b)) \
   X(void, lua_pushlightuserdata, (lua_State *L, void *p)) \
   X(int, lua_pushthread, (lua_State *L)) \
   X(void, lua_gettable, (lua_State *L, int index)) \
   X(void, lua_getfield, (lua_State *L, int index, const char *k)) \
   X(void, lua_rawget, (lua_State *L, int index)) \
   X(void, lua_rawgeti, (lua_State *L, int index, int n)) \
   X(void, lua_createtable, (lua_State *L, int array, int hash)) \
   X(void *, lua_newuserdata, (lua_State *L, size_t size)) \
   X(int, lua_getmetatable, (lua_State *L, int index)) \
   X(void, lua_settable, (lua_State *L, int index)) \
   X(void, lua_setfield, (lua_State *L, int index, const char *k)) \
   X(void, lua_rawset, (lua_State *L, int index)) \
   X(void, lua_rawseti, (lua_State *L, int index, int n)) \
   X(int, lua_setmetatable, (lua_State *L, int index)) \
   X(void, lua_call, (lua_State *L, int arguments, int results)) \
   X(int, lua_pcall, (lua_State *L, int arguments, int results, int handler)) \
   X(int, lua_cpcall, (lua_State *L, lua_CFunction f, void *data)) \
   X(int, lua_error, (lua_State *L)) \
   X(int, lua_next, (lua_State *L, int index)) \
   X(int, lua_gc, (lua_State *L, int what, int data)) \
   X(int, lua_sethook, (lua_State *L, lua_Hook f, int mask, int count)) \
   X(lua_Hook, lua_gethook, (lua_State *L)) \
   X(int, lua_gethookmask, (lua_State *L)) \
   X(int, lua_gethookcount, (lua_State *L)) \
   X(lua_State *, luaL_newstate, (void)) \
   X(void, luaL_openlibs, (lua_State *L)) \
   X(void, lua_close, (lua_State *L)) \
   X(int, luaL_loadbuffer, (lua_State *L, const char *s, size_t length, const char *name)) \
   X(int, luaL_ref, (lua_State *L, int table)) \
   X(void, luaL_unref, (lua_State *L, int table, int ref)) \
   X(int, luaL_error, (lua_State *L, const char *format, ...)) \
   X(void, luaL_traceback, (lua_State *L, lua_State *from, const char *message, int level)) \
   X(void, luaJIT_profile_start, (lua_State *L, const char *mode, lua_ProfileCallback f, void *data)) \
   X(void, luaJIT_profile_stop, (lua_State *L))

#define X(result, name, parameters) result (*name) parameters;
typedef struct lua_api { LUA_API_FUNCTIONS(X) } lua_api;
#undef X

/* Filled once per process, before any other call; read-only afterwards. */
extern lua_api lua;

/* Fill the table from a dlopen handle. Returns NULL, or the name of the first symbol that is missing. */
const char *lua_api_load(void *handle);

static inline void lua_pop(lua_State *L, int n) { lua.lua_settop(L, -n - 1); }

#endif
