# Pulling Lua values from a stack to Python.
#
# Reading a value raises no Lua error. Making a reference can, if Lua is out of memory; it runs in a protected call.
from cpython.list cimport PyList_New, PyList_SET_ITEM
from cpython.unicode cimport PyUnicode_DecodeUTF8
from libc.math cimport signbit

cdef extern from "Python.h":
    PyObject *PyErr_Occurred()

cdef enum:
    BATCH = 16       # elements of a table read onto the stack at a time


cdef inline object number_value(double number):
    cdef long long whole
    if -EXACT < number < EXACT:
        whole = <long long>number
        if <double>whole == number and not (whole == 0 and signbit(number)):
            return whole
    return number


cdef object string_value(lua_State *L, int index):
    cdef size_t length
    cdef const char *text = lua.lua_tolstring(L, index, &length)
    try:
        return PyUnicode_DecodeUTF8(text, length, NULL)
    except UnicodeDecodeError:
        return text[:length]


cdef bytes bytes_value(lua_State *L, int index):
    cdef size_t length
    cdef const char *text = lua.lua_tolstring(L, index, &length)
    return text[:length]


cdef object pull_value(State state, lua_State *L, int index, dict memo):
    """The value at an absolute stack index. `memo` maps tables found so far in this value to their Python objects."""
    cdef int kind = lua.lua_type(L, index)
    if kind == LUA_TNUMBER:
        return number_value(lua.lua_tonumber(L, index))
    if kind == LUA_TNIL:
        return None
    if kind == LUA_TSTRING:
        return bytes_value(L, index) if state.as_bytes() else string_value(L, index)
    if kind == LUA_TBOOLEAN:
        return lua.lua_toboolean(L, index) != 0
    if kind == LUA_TTABLE:
        return pull_table(state, L, index, memo)
    if kind == LUA_TUSERDATA:
        value = pull_userdata(state, L, index)
        return own_copy(value) if state.copies_wanted else value
    if kind == LUA_TFUNCTION:
        return pull_function(state, L, index)
    if kind == LUA_TLIGHTUSERDATA and lua.lua_touserdata(L, index) == NULL:
        return None
    if kind == LUA_TCDATA:
        return pull_cdata(state, L, index)
    return proxy_of(state, L, index, LuaObject)


cdef object pull_function(State state, lua_State *L, int index):
    cdef br_reference *reference
    if lua.lua_tocfunction(L, index) == <lua_CFunction>br_enter_python:
        lua.lua_getupvalue(L, index, 1)
        reference = <br_reference *>lua.lua_touserdata(L, -1)
        lua_pop(L, 1)
        return referred(reference)
    return proxy_of(state, L, index, LuaFunction)


cdef object referred(br_reference *reference):
    """The Python object that a userdata represents. Raises ReferenceError if the userdata was finalized before."""
    if reference.drop == NULL:
        raise ReferenceError("this Python object is gone: Lua has collected what stood for it")
    return <object>reference.drop.object


cdef object pull_userdata(State state, lua_State *L, int index):
    cdef const void *metatable
    cdef int d
    cdef void *payload = lua.lua_touserdata(L, index)
    cdef br_tensor *tensor
    cdef br_storage *storage
    cdef int64_t one = 1
    if lua.lua_getmetatable(L, index):
        metatable = lua.lua_topointer(L, -1)
        lua_pop(L, 1)
        if metatable == state.object_pointer or metatable == state.exception_pointer:
            return referred(<br_reference *>payload)
        for d in range(8):
            if metatable == state.known.tensor_pointers[d]:
                if state.foreign:
                    return foreign_tensor_value(state, (<br_th_tensor **>payload)[0], d)
                return tensor_value(<br_tensor *>payload, state.as_torch())
            if metatable == state.known.cuda_tensor_pointers[d]:
                use_torch()
                return tensor_value(<br_tensor *>payload, True)
            if metatable == state.known.cuda_storage_pointers[d] and (<br_storage **>payload)[0] != NULL:
                use_torch()
                return storage_value((<br_storage **>payload)[0], True)
            if state.foreign and metatable == state.known.storage_pointers[d]:
                return foreign_storage_value(state, (<br_th_storage **>payload)[0], d)
            if metatable == state.known.storage_pointers[d] or metatable == state.known.cuda_storage_pointers[d]:
                if (<br_storage **>payload)[0] == NULL:
                    return numpy.empty(0, DTYPES[d])
                return storage_value((<br_storage **>payload)[0], state.as_torch())
        if state.known.tensor_pointers[BR_DEVICE] != NULL:
            for d in range(BR_DEVICE, 2 * BR_DEVICE):
                if metatable == state.known.tensor_pointers[d]:
                    tensor = <br_tensor *>payload
                    return device_value(state, tensor.storage, tensor.dtype, tensor.storageOffset, tensor.nDimension,
                                        tensor.size, tensor.stride)
                if metatable == state.known.storage_pointers[d]:
                    storage = (<br_storage **>payload)[0]
                    return device_value(state, storage, d, 0, 1 if storage.size > 0 else 0, <int64_t *>&storage.size,
                                        &one)
    return proxy_of(state, L, index, LuaObject)


cdef object pull_cdata(State state, lua_State *L, int index):
    """A 64-bit integer as an int; any other cdata as a proxy."""
    cdef int64_t number = 0
    cdef int top = lua.lua_gettop(L), what
    lua.lua_rawgeti(L, LUA_REGISTRYINDEX, state.read_integer)
    lua.lua_pushvalue(L, index)
    br_push_address(L, &number)
    if lua.lua_pcall(L, 2, 1, 0) != 0:
        raise_lua_error(state, L)
    what = <int>lua.lua_tonumber(L, -1)
    lua.lua_settop(L, top)
    if what == 1:
        return number
    if what == 2:
        return <uint64_t>number
    return proxy_of(state, L, index, LuaObject)


cdef object proxy_of(State state, lua_State *L, int index, type kind):
    """A Python object that refers to the Lua value at `index`."""
    cdef Proxy proxy = <Proxy>kind.__new__(kind)
    cdef int top = lua.lua_gettop(L)
    if br_reference_to(L, &state.pinned, index, &proxy.reference) != 0:
        lua.lua_settop(L, top)
        raise MemoryError("Lua has no memory for a reference")
    proxy.state = state
    return proxy


# ---- tables

cdef bint is_instance(State state, lua_State *L, int index) noexcept:
    """Is the table at `index` an instance of a torch class (its metatable names one)?"""
    cdef bint named
    if not lua.lua_getmetatable(L, index):
        return False
    lua.lua_rawgeti(L, LUA_REGISTRYINDEX, state.pinned.typename)
    lua.lua_rawget(L, -2)
    named = lua.lua_type(L, -1) == LUA_TSTRING
    lua_pop(L, 2)
    return named


cdef object pull_table(State state, lua_State *L, int index, dict memo):
    cdef uintptr_t identity = <uintptr_t>lua.lua_topointer(L, index)
    cdef Py_ssize_t n
    if not lua.lua_checkstack(L, BATCH + 8):
        raise RecursionError("no room on Lua's stack: the tables are nested too deeply")
    if is_instance(state, L, index):
        return proxy_of(state, L, index, LuaObject)
    if state.proxies_wanted:
        return proxy_of(state, L, index, LuaTable)
    if memo is None:
        memo = {}
    elif identity in memo:
        return memo[identity]
    if br_stack_is_short():
        raise_short_stack()
    n = -1 if state.always_dict else sequence_length(state, L, index)
    if n < 0:
        return pull_dict(state, L, index, identity, memo)
    return pull_list(state, L, index, n, identity, memo)


cdef Py_ssize_t sequence_length(State state, lua_State *L, int index) except -2:
    """n when the table's keys are exactly 1..n, else -1."""
    cdef size_t n = lua.lua_objlen(L, index), count = 0
    cdef int top = lua.lua_gettop(L)
    if n <= 32:
        lua.lua_pushnil(L)
        while lua.lua_next(L, index):
            lua_pop(L, 1)
            count += 1
            if count > n:
                lua_pop(L, 1)
                return -1
        # there are n keys: they are 1..n unless one of these is nil
        for count in range(1, n + 1):
            lua.lua_rawgeti(L, index, <int>count)
            if lua.lua_type(L, -1) == LUA_TNIL:
                lua.lua_settop(L, top)
                return -1
            lua_pop(L, 1)
        return n
    lua.lua_rawgeti(L, LUA_REGISTRYINDEX, state.is_sequence)
    lua.lua_pushvalue(L, index)
    if lua.lua_pcall(L, 1, 1, 0) != 0:
        raise_lua_error(state, L)
    count = lua.lua_toboolean(L, -1)
    lua.lua_settop(L, top)
    return <Py_ssize_t>n if count else -1


cdef object pull_list(State state, lua_State *L, int index, Py_ssize_t n, uintptr_t identity, dict memo):
    # No Python code can reach the list before it is full: only this function and the memo have it.
    cdef list result = PyList_New(n)
    cdef Py_ssize_t i = 0, k, some
    cdef int first = lua.lua_gettop(L) + 1
    cdef object item
    memo[identity] = result
    while i < n:
        some = min(n - i, <Py_ssize_t>BATCH)
        for k in range(some):
            lua.lua_rawgeti(L, index, <int>(i + k) + 1)
        for k in range(some):
            if lua.lua_type(L, first + <int>k) == LUA_TNUMBER:
                item = number_value(lua.lua_tonumber(L, first + <int>k))
            else:
                item = pull_value(state, L, first + <int>k, memo)
            Py_INCREF(item)
            PyList_SET_ITEM(result, i + k, item)
        lua.lua_settop(L, first - 1)
        i += some
    return result


cdef object pull_dict(State state, lua_State *L, int index, uintptr_t identity, dict memo):
    cdef dict result = {}
    cdef int key = lua.lua_gettop(L) + 1
    memo[identity] = result
    lua.lua_pushnil(L)
    while lua.lua_next(L, index):
        result[pull_key(state, L, key)] = pull_value(state, L, key + 1, memo)
        lua.lua_settop(L, key)
    return result


cdef object pull_key(State state, lua_State *L, int index):
    """A key. A table or another unhashable value becomes a proxy, because a list cannot be a key in Python."""
    cdef int kind = lua.lua_type(L, index)
    if kind == LUA_TTABLE:
        return proxy_of(state, L, index, LuaObject if is_instance(state, L, index) else LuaTable)
    value = pull_value(state, L, index, None)
    if kind == LUA_TUSERDATA and type(value).__hash__ is None:
        return proxy_of(state, L, index, LuaObject)
    return value
