/* The C functions between Python and Lua. A Lua error skips their frames (it is a longjmp), so these hold no Python
 * references. After a call, `saved` tells whether the GIL was released when the error came. */
#ifndef BRIDGE_TRAMPOLINE_H
#define BRIDGE_TRAMPOLINE_H

#include <Python.h>
#include "pinned.h"

/* One call into Lua, from Python or (the results of a callback) back into Lua. */
typedef struct br_call {
   void *state;            /* the State, borrowed */
   PyObject *arguments;    /* a tuple, borrowed */
   int function;           /* reference in the registry */
   int self;               /* reference of the object that comes before the arguments, or 0 */
   const br_pinned *pinned;
   int (*push)(struct br_call *call, lua_State *L); /* number of values pushed, or -1 with a Python exception set */
   PyThreadState *saved;   /* not NULL while the GIL is given up */
} br_call;

/* The message handler: keeps the traceback in the registry, at the place in upvalue 1, and returns the error
   unchanged. */
static int br_on_error(lua_State *L)
{
   lua.luaL_traceback(L, L, NULL, 1);
   lua.lua_rawseti(L, LUA_REGISTRYINDEX, (int)lua.lua_tonumber(L, LUA_GLOBALSINDEX - 1));
   return 1;
}

static int br_enter_lua(lua_State *L)
{
   br_call *call = (br_call *)br_to_address(L, 1);
   lua.lua_settop(L, 0);
   lua.lua_rawgeti(L, LUA_REGISTRYINDEX, call->function);
   int n = call->push(call, L);
   if (n < 0) {
      lua.lua_pushnil(L);
      return lua.lua_error(L);
   }
   call->saved = PyEval_SaveThread();
   lua.lua_call(L, n, LUA_MULTRET);
   PyEval_RestoreThread(call->saved);
   call->saved = NULL;
   return lua.lua_gettop(L);
}

/* Call a Lua function; on return the GIL is held. Returns 0 with the results on top of the stack, or Lua's error code
 * with the error there. -1: a Python exception is set. */
static int br_call_lua(lua_State *L, br_call *call)
{
   if (!lua.lua_checkstack(L, 8)) return 4; /* LUA_ERRMEM */
   lua.lua_rawgeti(L, LUA_REGISTRYINDEX, call->pinned->on_error);
   int handler = lua.lua_gettop(L);
   lua.lua_rawgeti(L, LUA_REGISTRYINDEX, call->pinned->enter_lua);
   br_push_address(L, call);
   int rc = lua.lua_pcall(L, 1, LUA_MULTRET, handler);
   if (call->saved) {
      PyEval_RestoreThread(call->saved);
      call->saved = NULL;
   }
   lua.lua_remove(L, handler);
   return rc != 0 && PyErr_Occurred() ? -1 : rc;
}

static int br_push_only(lua_State *L)
{
   br_call *call = (br_call *)br_to_address(L, 1);
   lua.lua_settop(L, 0);
   int n = call->push(call, L);
   if (n < 0) {
      lua.lua_pushnil(L);
      return lua.lua_error(L);
   }
   return n;
}

/* Push a tuple's values in a protected call, with the GIL held all the time. Returns what br_call_lua returns. */
static int br_push_values(lua_State *L, br_call *call)
{
   if (!lua.lua_checkstack(L, 8)) return LUA_ERRMEM;
   lua.lua_rawgeti(L, LUA_REGISTRYINDEX, call->pinned->push_only);
   br_push_address(L, call);
   int rc = lua.lua_pcall(L, 1, LUA_MULTRET, 0);
   return rc != 0 && PyErr_Occurred() ? -1 : rc;
}

/* Make a reference in the registry to a value, in a protected call. br_reference_to returns 0, or Lua's error code with
   the error on the stack. */
static int br_take_reference(lua_State *L)
{
   int *reference = (int *)br_to_address(L, 2);
   lua.lua_settop(L, 1);
   *reference = lua.luaL_ref(L, LUA_REGISTRYINDEX);
   return 0;
}

static int br_reference_to(lua_State *L, const br_pinned *pinned, int index, int *reference)
{
   if (!lua.lua_checkstack(L, 8)) return LUA_ERRMEM;
   lua.lua_rawgeti(L, LUA_REGISTRYINDEX, pinned->take_reference);
   lua.lua_pushvalue(L, index);
   br_push_address(L, reference);
   return lua.lua_pcall(L, 2, 0, 0);
}

static int br_collect(lua_State *L)
{
   lua.lua_gc(L, LUA_GCCOLLECT, 0);
   return 0;
}

/* Collect garbage after a call that ran out of memory: Lua itself would do so only after further allocations. */
static void br_recover(lua_State *L, const br_pinned *pinned)
{
   int top = lua.lua_gettop(L);
   if (!lua.lua_checkstack(L, 8)) return;
   lua.lua_rawgeti(L, LUA_REGISTRYINDEX, pinned->collect);
   lua.lua_pcall(L, 0, 0, 0);
   lua.lua_settop(L, top);
}

/* The C function that represents a Python callable in Lua; upvalue 1 is the object's userdata, upvalue 2 the State.
 * `br_callback` (callback.pxi) does the work, with the GIL, and pushes the results, or one error object and returns
 * -1. */
static int (*br_callback)(lua_State *L, void *state, br_reference *function);

static int br_enter_python(lua_State *L)
{
   br_reference *function = (br_reference *)lua.lua_touserdata(L, LUA_GLOBALSINDEX - 1);
   void *state = br_to_address(L, LUA_GLOBALSINDEX - 2);
   if (!function->drop) return lua.luaL_error(L, "this Python function is gone: Lua has collected what stood for it");
   PyGILState_STATE gil = PyGILState_Ensure();
   int n = br_callback(L, state, function);
   PyGILState_Release(gil);
   return n >= 0 ? n : lua.lua_error(L);
}

/* Drop the queued references. Needs only the GIL; also called by Python as a pending call. */
static int br_drain(void *unused)
{
   (void)unused;
   br_drop *drop = br_drops_take();
   while (drop) {
      br_drop *next = drop->next;
      Py_XDECREF((PyObject *)drop->object);
      free(drop);
      drop = next;
   }
   return 0;
}

/* Called before Python lends `nbytes` more memory to Lua: if that passes the heap's limit, run Lua's collector, drop at
 * once what it released, and set the limit by what stays alive. Needs the GIL. */
static void br_relieve(lua_State *L, br_heap *heap, int64_t nbytes)
{
   if (br_heap_held(heap) + nbytes <= heap->limit) return;
   lua.lua_gc(L, LUA_GCCOLLECT, 0);
   br_drain(NULL);
   int64_t limit = 2 * (br_heap_held(heap) + nbytes);
   heap->limit = limit > BR_MIN_LIMIT ? limit : BR_MIN_LIMIT;
}

/* The metatables of this state's tensors and storages. */
typedef struct br_known {
   int tensor_metatables[BR_TYPES];          /* references in the registry; 0 until torch (cutorch) is loaded */
   const void *tensor_pointers[BR_TYPES];
   const void *storage_pointers[BR_TYPES];
   const void *cuda_tensor_pointers[BR_DTYPES]; /* NULL unless the CPU simulates the device */
   const void *cuda_storage_pointers[BR_DTYPES];
} br_known;

/* native.register(kind, dtype, metatable), kind 'tensor', 'storage', 'cuda tensor' or 'cuda storage'; upvalue 1: this
   state's br_known */
static int br_register(lua_State *L)
{
   br_known *known = (br_known *)lua.lua_touserdata(L, LUA_GLOBALSINDEX - 1);
   size_t length;
   const char *kind = lua.lua_tolstring(L, 1, &length);
   int dtype = (int)lua.lua_tonumber(L, 2);
   if (!kind || dtype < 0 || dtype >= BR_TYPES || lua.lua_type(L, 3) != LUA_TTABLE)
      return lua.luaL_error(L, "register: expected (kind, dtype below %d, metatable)", BR_TYPES);
   if (strcmp(kind, "tensor") != 0) {
      const void **pointers = strcmp(kind, "storage") == 0 ? known->storage_pointers
                              : strcmp(kind, "cuda tensor") == 0 ? known->cuda_tensor_pointers
                                                                 : known->cuda_storage_pointers;
      pointers[dtype % (strncmp(kind, "cuda", 4) == 0 ? BR_DTYPES : BR_TYPES)] = lua.lua_topointer(L, 3);
      return 0;
   }
   known->tensor_pointers[dtype] = lua.lua_topointer(L, 3);
   lua.lua_settop(L, 3);
   known->tensor_metatables[dtype] = lua.luaL_ref(L, LUA_REGISTRYINDEX);
   return 0;
}

/* Push a userdata that represents a Python object; `metatable` is its metatable's reference. 0, or -1: out of memory.
 * The Lua calls come first, because they may raise an error. */
static int br_push_reference(lua_State *L, PyObject *object, int metatable)
{
   br_reference *reference = (br_reference *)lua.lua_newuserdata(L, sizeof *reference);
   reference->drop = NULL;
   lua.lua_rawgeti(L, LUA_REGISTRYINDEX, metatable);
   lua.lua_setmetatable(L, -2);
   reference->drop = (br_drop *)malloc(sizeof *reference->drop);
   if (!reference->drop) return -1;
   Py_INCREF(object);
   reference->drop->object = object;
   return 0;
}

static void br_wakeup(void) { Py_AddPendingCall(br_drain, NULL); }

#endif
