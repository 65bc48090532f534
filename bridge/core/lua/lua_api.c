#include "lua/lua_api.h"

#include <dlfcn.h>

lua_api lua;

const char *lua_api_load(void *handle)
{
   static int filled;
   if (filled) return NULL;
#define X(result, name, parameters) \
   *(void **)&lua.name = dlsym(handle, #name); \
   if (!lua.name) return #name;
   LUA_API_FUNCTIONS(X)
#undef X
   filled = 1;
   return NULL;
}
