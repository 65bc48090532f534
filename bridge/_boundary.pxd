# What all files of the boundary share (boundary/README.md): declarations of the C functions and structs they use, View,
# and State.
from cpython.object cimport PyObject, PyTypeObject
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint64_t, uintptr_t

cdef extern from "core/module.h":
    ctypedef struct lua_State:
        pass
    ctypedef struct lua_Debug:
        pass
    ctypedef int (*lua_CFunction)(lua_State *) noexcept nogil
    ctypedef void (*lua_Hook)(lua_State *, lua_Debug *) noexcept nogil

    ctypedef struct lua_api:
        int (*lua_gettop)(lua_State *) nogil
        void (*lua_settop)(lua_State *, int) nogil
        void (*lua_pushvalue)(lua_State *, int) nogil
        void (*lua_remove)(lua_State *, int) nogil
        void (*lua_insert)(lua_State *, int) nogil
        int (*lua_checkstack)(lua_State *, int) nogil
        int (*lua_type)(lua_State *, int) nogil
        double (*lua_tonumber)(lua_State *, int) nogil
        int (*lua_toboolean)(lua_State *, int) nogil
        const char *(*lua_tolstring)(lua_State *, int, size_t *) nogil
        size_t (*lua_objlen)(lua_State *, int) nogil
        void *(*lua_touserdata)(lua_State *, int) nogil
        const void *(*lua_topointer)(lua_State *, int) nogil
        int (*lua_rawequal)(lua_State *, int, int) nogil
        lua_CFunction (*lua_tocfunction)(lua_State *, int) nogil
        const char *(*lua_getupvalue)(lua_State *, int, int) nogil
        void (*lua_pushnil)(lua_State *) nogil
        void (*lua_pushnumber)(lua_State *, double) nogil
        void (*lua_pushlstring)(lua_State *, const char *, size_t) nogil
        void (*lua_pushcclosure)(lua_State *, lua_CFunction, int) nogil
        void (*lua_pushboolean)(lua_State *, int) nogil
        int (*lua_pushthread)(lua_State *) nogil
        void (*lua_pushlightuserdata)(lua_State *, void *) nogil
        void (*lua_getfield)(lua_State *, int, const char *) nogil
        void (*lua_rawget)(lua_State *, int) nogil
        void (*lua_rawgeti)(lua_State *, int, int) nogil
        void (*lua_createtable)(lua_State *, int, int) nogil
        int (*lua_getmetatable)(lua_State *, int) nogil
        void (*lua_setfield)(lua_State *, int, const char *) nogil
        void (*lua_rawset)(lua_State *, int) nogil
        void (*lua_rawseti)(lua_State *, int, int) nogil
        int (*lua_setmetatable)(lua_State *, int) nogil
        int (*lua_pcall)(lua_State *, int, int, int) nogil
        int (*lua_cpcall)(lua_State *, lua_CFunction, void *) nogil
        int (*lua_error)(lua_State *) nogil
        int (*lua_next)(lua_State *, int) nogil
        int (*lua_sethook)(lua_State *, lua_Hook, int, int) nogil
        lua_State *(*luaL_newstate)() nogil
        int (*luaL_ref)(lua_State *, int) nogil
        void (*luaL_unref)(lua_State *, int, int) nogil
        int (*luaL_loadbuffer)(lua_State *, const char *, size_t, const char *) nogil
    lua_api lua
    const char *lua_api_load(void *handle)

    int LUA_ERRMEM
    int LUA_REGISTRYINDEX, LUA_GLOBALSINDEX, LUA_MULTRET
    int LUA_TNIL, LUA_TBOOLEAN, LUA_TLIGHTUSERDATA, LUA_TNUMBER, LUA_TSTRING, LUA_TTABLE
    int LUA_TFUNCTION, LUA_TUSERDATA, LUA_TTHREAD, LUA_TCDATA
    int LUA_MASKCOUNT, LUA_MASKCALL, LUA_MASKRET, LUA_MASKLINE
    void lua_pop(lua_State *, int) nogil

    int BR_BYTE, BR_CHAR, BR_SHORT, BR_INT, BR_LONG, BR_HALF, BR_FLOAT, BR_DOUBLE, BR_DTYPES

    ctypedef struct br_heap:
        int64_t limit
        int device
    ctypedef struct br_drop:
        br_drop *next
        void *object
    ctypedef struct br_block:
        br_drop drop
        void *data
        int64_t nbytes
    ctypedef struct br_storage:
        void *data
        ptrdiff_t size
        void **live
        int64_t *live_nbytes
        br_block *block
        int dtype
    ctypedef struct br_tensor:
        int64_t *size
        int64_t *stride
        int nDimension
        br_storage *storage
        ptrdiff_t storageOffset
        int dtype
    ctypedef struct br_reference:
        br_drop *drop
    ctypedef struct br_shim:
        void *create_tensor_from_blob
        int32_t (*delete_tensor_object)(void *) noexcept nogil
        int32_t dtypes[8]
    br_shim br_torch
    void (*br_drops_wakeup)() nogil

    size_t br_element_size(int dtype) nogil
    br_heap *br_heap_new() nogil
    void br_heap_release(br_heap *) nogil
    int64_t br_heap_held(const br_heap *) nogil
    br_block *br_block_device(br_heap *, void *, int64_t, void *, void *) nogil
    br_block *br_block_given(void *, int64_t, void (*)(void *) noexcept nogil) nogil
    br_block *br_block_lent(br_heap *, void *, int64_t, void *) nogil
    void br_block_retain(br_block *) nogil
    void br_block_release(br_block *) nogil
    br_storage *br_storage_over(br_block *, br_heap *, int, int64_t, void **, int64_t *) nogil
    void br_storage_release(br_storage *) nogil
    void br_tensor_init(br_tensor *, int) nogil
    int br_tensor_reserve(br_tensor *, int) nogil
    int br_tensor_covered(const br_tensor *) nogil
    void *lua_newuserdata "lua.lua_newuserdata" (lua_State *, size_t) nogil

cdef extern from "core/loops/parallel.h":
    void br_parallel_with(void *) nogil

cdef extern from "boundary/pinned.h":
    const char *BR_DETAIL
    ctypedef struct br_pinned:
        int traceback
        int typename
        int callables
        int objects
        int lent
    void br_push_address(lua_State *, const void *) nogil

cdef extern from "boundary/trampoline.h":
    ctypedef struct br_known:
        int tensor_metatables[16]
        const void *tensor_pointers[16]
        const void *storage_pointers[16]
        const void *cuda_tensor_pointers[8]
        const void *cuda_storage_pointers[8]
    ctypedef struct PyThreadState:
        pass
    ctypedef struct br_call:
        void *state
        PyObject *arguments
        int function
        int self
        const br_pinned *pinned
        PyThreadState *saved
        int (*push)(br_call *, lua_State *) noexcept
    int br_call_lua(lua_State *, br_call *)
    int br_push_values(lua_State *, br_call *)
    void br_recover(lua_State *, const br_pinned *)
    int br_reference_to(lua_State *, const br_pinned *, int, int *)
    int (*br_callback)(lua_State *, void *, br_reference *) noexcept
    int br_enter_python(lua_State *) noexcept nogil
    int br_push_reference(lua_State *, object, int)
    int br_drain(void *)
    void br_relieve(lua_State *, br_heap *, int64_t)
    void br_wakeup() noexcept nogil

cdef enum:
    MAX_DIMENSIONS = 64

# The memory of an array or tensor that is being passed to Lua.
cdef struct View:
    void *data                  # the first element
    int dtype
    int ndim
    int64_t size[MAX_DIMENSIONS]
    int64_t stride[MAX_DIMENSIONS]    # elements
    void **live                 # where a torch storage keeps its data pointer and size, or NULL
    int64_t *live_nbytes
    PyObject *owner             # a reference that the View owns and the block takes over


cdef class State:
    cdef lua_State *main
    cdef lua_State *current                  # the coroutine that runs; not `main` in a callback
    cdef br_heap *heap
    cdef br_known known
    cdef br_pinned pinned
    cdef readonly bint closed
    cdef bint return_torch, return_bytes, always_dict, foreign, interruptible
    cdef int torch_forced                    # above 0: arguments are pulled as torch tensors whatever as_torch says
    cdef int text_forced                     # above 0: strings are str whatever as_bytes says
    cdef bint proxies_wanted, copies_wanted  # while results are pulled: tables as proxies; arrays as copies
    cdef public bint copying                 # results of calls are copies unless a call says otherwise
    cdef int object_metatable, exception_metatable, is_sequence, read_integer
    cdef const void *object_pointer
    cdef const void *exception_pointer
    cdef int native                          # reference in the registry of the table that boot.lua gets
    cdef dict helpers                        # name -> reference of a Lua function that boot.lua returned
    cdef list forgotten                      # references to release when a thread has entered the state
    cdef unsigned long owner                 # the thread inside, 0 for none
    cdef int depth
    cdef int entered_in                      # the value of `forks` in the process of the thread inside
    cdef int waiters
    cdef object available                    # a Condition, for threads that wait
    cdef double busy_timeout
    cdef list outer                          # real Torch7: the state this thread was in before each entry
    cdef object token                        # identifies this state in `here` (foreign.pxi)
    cdef object unwinding                    # an exception that no pcall may swallow
    cdef readonly dict attached              # objects that Python packages keep with this state, by package name

    cdef int make(self) except -1
    cdef int keep(self, lua_State *L, str name) except -1
    cdef int enter(self) except -1
    cdef int leave(self) except -1
    cdef int hold(self) except -1
    cdef int let_go(self) except -1
    cdef int wait_for_turn(self) except -1
    cdef void forget(self, int reference) noexcept
    cdef int give_back_references(self) except -1
    cdef object call(self, int function, tuple arguments, int self_reference, bint proxies, bint copies, bint as_list=*)
    cdef object ask(self, str helper, tuple arguments)
    cdef object ask_proxy(self, str helper, tuple arguments)
    cdef object ask_text(self, str helper, tuple arguments)
    cdef list ask_list(self, str helper, tuple arguments)
    cdef bint as_bytes(self)
    cdef bint as_torch(self)
    cdef int need_torch7(self, lua_State *L) except -1
    cdef int need_device(self, lua_State *L) except -1
