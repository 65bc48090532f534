/* An allocator for a Lua state that counts what it is asked for and refuses one request, or all from one on. */
#include <stddef.h>

typedef void *(*allocator)(void *data, void *block, size_t old, size_t new);
typedef struct lua_State lua_State;

static allocator inner;
static void *inner_data;
static long asked, refused_from = -1, refused_to = -1;

static void *count(void *data, void *block, size_t old, size_t new)
{
   (void)data;
   if (new > old) {
      long number = asked++;
      if (number >= refused_from && number < refused_to) return NULL;
   }
   return inner(inner_data, block, old, new);
}

/* Put it into a state; `get` and `set` are its LuaJIT's lua_getallocf and lua_setallocf. */
void failing_install(lua_State *L, allocator (*get)(lua_State *, void **), void (*set)(lua_State *, allocator, void *))
{
   inner = get(L, &inner_data);
   set(L, count, NULL);
}

void failing_remove(lua_State *L, void (*set)(lua_State *, allocator, void *)) { set(L, inner, inner_data); }

/* From now on refuse the requests from `first` (the next is 0) up to `last`; -1, -1: none. */
void failing_refuse(long first, long last)
{
   asked = 0;
   refused_from = first;
   refused_to = last;
}

long failing_asked(void) { return asked; }
