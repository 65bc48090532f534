# Pushing Python values onto a Lua stack.
#
# Everything here runs inside a protected call (trampoline.h) with the GIL held. The only Lua error possible here is
# that Lua is out of memory; it unwinds these frames.
from cpython.dict cimport PyDict_Next
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.list cimport PyList_CheckExact, PyList_GET_ITEM, PyList_GET_SIZE
from cpython.long cimport PyLong_AsDouble, PyLong_AsLongLongAndOverflow, PyLong_CheckExact
from cpython.ref cimport Py_DECREF, Py_INCREF
from cpython.tuple cimport PyTuple_CheckExact, PyTuple_GET_ITEM, PyTuple_GET_SIZE
from cpython.unicode cimport PyUnicode_CheckExact

cdef extern from "Python.h":
    const char *PyUnicode_AsUTF8AndSize(object, Py_ssize_t *) except NULL

cdef extern from *:
    """
    /* up to here a double can hold every integer */
    #define BR_EXACT (1LL << 53)
    """
    const long long EXACT "BR_EXACT"


cdef int push_call(br_call *call, lua_State *L) noexcept:
    """Push the arguments of a call, after `call.self` if it has one. Returns how many, or -1 with an exception set."""
    cdef State state = <State>call.state
    cdef Py_ssize_t i, n = PyTuple_GET_SIZE(<object>call.arguments)
    cdef int extra = 0
    try:
        if n > 7000 or not lua.lua_checkstack(L, <int>n + 8):
            raise ValueError(f"a Lua function takes at most about 7000 arguments, got {n}; pass a list")
        if call.self:
            lua.lua_rawgeti(L, LUA_REGISTRYINDEX, call.self)
            extra = 1
        for i in range(n):
            push_value(state, L, <object>PyTuple_GET_ITEM(<object>call.arguments, i), 0)
        return <int>n + extra
    except BaseException as exception:
        set_exception(exception)
        return -1


cdef int push_value(State state, lua_State *L, object value, int memo) except -1:
    """Push one value. `memo`: the stack index of a table from containers being pushed to their tables; 0: none yet."""
    cdef const char *text
    cdef Py_ssize_t length
    if PyFloat_CheckExact(value):
        lua.lua_pushnumber(L, PyFloat_AS_DOUBLE(value))
    elif PyLong_CheckExact(value):
        return push_int(L, value)
    elif PyUnicode_CheckExact(value):
        text = PyUnicode_AsUTF8AndSize(value, &length)
        lua.lua_pushlstring(L, text, length)
    elif value is None:
        lua.lua_pushnil(L)
    elif value is True or value is False:
        lua.lua_pushboolean(L, value is True)
    elif type(value) is ndarray:
        return push_array(state, L, value)
    elif isinstance(value, Proxy):
        return push_proxy(state, L, <Proxy>value)
    elif isinstance(value, (list, tuple, range, dict)):
        return push_container(state, L, value, memo)
    else:
        return push_rare(state, L, value)
    return 0


cdef int push_int(lua_State *L, object value) except -1:
    cdef int overflow = 0
    cdef long long number = PyLong_AsLongLongAndOverflow(value, &overflow)
    cdef double near
    if not overflow and -EXACT <= number <= EXACT:
        lua.lua_pushnumber(L, <double>number)
        return 0
    try:
        near = PyLong_AsDouble(value)
        if int(near) == value:
            lua.lua_pushnumber(L, near)
            return 0
    except OverflowError:
        near = 0
    shown = str(value) if -10**40 < value < 10**40 else f"of {value.bit_length()} bits"
    raise OverflowError(f"the int {shown} is no exact double, which is all that a Lua number holds (every int up to "
                        "2**53 is); pass float(x) to round it, str(x), or an int64 array")


cdef int push_rare(State state, lua_State *L, object value) except -1:
    """Push a value of a rarer type: subclasses, numpy scalars, torch tensors, callables, any other object."""
    cdef const char *text
    cdef Py_ssize_t length
    if isinstance(value, str):
        text = PyUnicode_AsUTF8AndSize(value, &length)
        lua.lua_pushlstring(L, text, length)
    elif isinstance(value, (bytes, bytearray)):
        data = bytes(value)
        lua.lua_pushlstring(L, data, len(data))
    elif value is null:
        lua.lua_pushlightuserdata(L, NULL)
    elif isinstance(value, numpy_bool):
        lua.lua_pushboolean(L, bool(value))
    elif isinstance(value, float):
        lua.lua_pushnumber(L, <double>value)
    elif isinstance(value, int):
        return push_int(L, int(value))
    elif isinstance(value, number_type):
        return push_value(state, L, scalar_value(value), 0)
    elif isinstance(value, ndarray):
        if hasattr(value, "mask"):
            raise TypeError("a masked array has no Lua form, its mask would be lost; pass array.filled(...)")
        return push_array(state, L, value)
    elif is_tensor(value):
        return push_tensor(state, L, value)
    elif isinstance(value, Index):
        return push_value(state, L, shift_index(value.value, 1), 0)
    elif callable(value):
        return push_object(state, L, value, state.pinned.callables)
    else:
        return push_object(state, L, value, state.pinned.objects)
    return 0


cdef bint is_tensor(object value) except -1:
    if not ready:
        if "torch" not in sys.modules or not type(value).__module__.startswith("torch"):
            for base in type(value).__mro__:
                if base.__module__ == "torch" and base.__name__ == "Tensor":
                    break
            else:
                return False
        use_torch()
    return isinstance(value, Tensor)


cdef object scalar_value(object value):
    """A numpy scalar as an int or float."""
    if isinstance(value, (numpy.integer, numpy.floating)) and not isinstance(value, numpy.longdouble):
        return value.item()
    return refuse_dtype(value.dtype, "convert it with float(x) or x.astype(...)")


# ---- containers

cdef int push_container(State state, lua_State *L, object value, int memo) except -1:
    cdef int table, top = memo
    if not lua.lua_checkstack(L, 12):
        raise RecursionError("no room on Lua's stack: the containers are nested too deeply")
    if memo and remembered(L, value, memo):
        return 0
    if br_stack_is_short():
        raise_short_stack()
    lua.lua_createtable(L, 0 if isinstance(value, dict) else <int>min(len(value), 1 << 26), 0)
    table = lua.lua_gettop(L)
    if memo:
        remember(L, value, memo, table)
    if isinstance(value, dict):
        memo = push_items(state, L, <dict>value, table, memo)
    elif PyList_CheckExact(value):
        memo = push_list(state, L, <list>value, table, memo)
    else:
        memo = push_list(state, L, list(value), table, memo)
        # the temporary list may go: `value` keeps its elements alive
    if not top:
        lua.lua_settop(L, table)
    return 0


cdef int push_list(State state, lua_State *L, list value, int table, int memo) except -1:
    """Fill a table with a list's elements. Returns the memo, which is made for the first nested container."""
    cdef Py_ssize_t i = 0
    cdef PyObject *item
    cdef int overflow
    cdef long long number
    if PyList_GET_SIZE(value) > 0x7ffffff:
        raise OverflowError(f"a Lua table holds at most {0x7ffffff} elements, got {len(value)}; pass an array")
    while i < PyList_GET_SIZE(value):          # converting may run Python code that changes the list
        item = PyList_GET_ITEM(value, i)
        i += 1
        if PyFloat_CheckExact(<object>item):
            lua.lua_pushnumber(L, PyFloat_AS_DOUBLE(<object>item))
        elif PyLong_CheckExact(<object>item):
            overflow = 0
            number = PyLong_AsLongLongAndOverflow(<object>item, &overflow)
            if not overflow and -EXACT <= number <= EXACT:
                lua.lua_pushnumber(L, <double>number)
            else:
                push_int(L, <object>item)
        else:
            memo = push_item(state, L, <object>item, value, table, memo)
        lua.lua_rawseti(L, table, <int>i)
    return memo


cdef int push_item(State state, lua_State *L, object item, object container, int table, int memo) except -1:
    if item is None:
        lua.lua_pushlightuserdata(L, NULL)     # not nil, which would shorten the table
        return memo
    if not memo and isinstance(item, (list, tuple, range, dict)):
        lua.lua_createtable(L, 0, 8)
        memo = lua.lua_gettop(L)
        remember(L, container, memo, table)
    push_value(state, L, item, memo)
    return memo


cdef int push_items(State state, lua_State *L, dict value, int table, int memo) except -1:
    """Fill a table from a dict. Keys are not shifted; a key whose value is None is left out."""
    for key, item in list(value.items()):
        if item is None:
            continue
        if key is None or key != key:
            raise ValueError(f"{key!r} cannot be a key of a Lua table")
        memo = push_item(state, L, item, value, table, memo)
        push_value(state, L, key, 0)
        lua.lua_insert(L, -2)
        lua.lua_rawset(L, table)
    return memo


cdef bint remembered(lua_State *L, object value, int memo) noexcept:
    """Push the table that was made for this container. False, and nothing pushed, if there is none yet."""
    br_push_address(L, <void *>value)
    lua.lua_rawget(L, memo)
    if lua.lua_type(L, -1) == LUA_TNIL:
        lua_pop(L, 1)
        return False
    return True


cdef void remember(lua_State *L, object value, int memo, int table) noexcept:
    br_push_address(L, <void *>value)
    lua.lua_pushvalue(L, table)
    lua.lua_rawset(L, memo)


# ---- tensors

cdef int push_array(State state, lua_State *L, object array) except -1:
    cdef View view
    cdef br_tensor *tensor
    state.need_torch7(L)
    if state.foreign:
        view_numpy(array, &view)
        return push_foreign(state, L, &view, array)
    tensor = bare_tensor(L)
    view_numpy(array, &view)
    return push_view(state, L, &view, tensor, array)


cdef int push_tensor(State state, lua_State *L, object array) except -1:
    cdef View view
    cdef br_tensor *tensor
    use_torch()
    if is_made_up(array):
        refuse_memory(array, None)
    if is_on_device(array):
        return push_device_tensor(state, L, array)
    state.need_torch7(L)
    if state.foreign:
        view_torch(array, &view)
        return push_foreign(state, L, &view, array)
    tensor = bare_tensor(L)
    view_torch(array, &view)
    return push_view(state, L, &view, tensor, array)


cdef br_tensor *bare_tensor(lua_State *L) noexcept:
    """Push an empty tensor. This may raise a Lua error, so it is done before anything that the error would leak."""
    cdef br_tensor *tensor = <br_tensor *>lua_newuserdata(L, sizeof(br_tensor))
    br_tensor_init(tensor, 0)
    return tensor


cdef int push_view(State state, lua_State *L, View *view, br_tensor *tensor, object array) except -1:
    """Fill the empty tensor on top of the stack with `array`, which the View describes."""
    cdef ptrdiff_t offset = 0
    cdef br_storage *storage = NULL
    if view.ndim == 0:
        Py_DECREF(<object>view.owner)
        lua_pop(L, 1)
        return push_value(state, L, array.item(), 0)
    if has_no_element(view):
        Py_DECREF(<object>view.owner)
        view.ndim = 0
    else:
        storage = view_storage(state, L, view, &offset)
    return place_tensor(state, L, view, tensor, storage, offset)


cdef int place_tensor(State state, lua_State *L, View *view, br_tensor *tensor, br_storage *storage,
                      ptrdiff_t offset) except -1:
    """Give the empty tensor on top of the stack a View's type and sizes and a storage, which it takes over."""
    cdef void *owner = view.owner
    cdef int d
    tensor.dtype = view.dtype
    tensor.storage = storage
    tensor.storageOffset = offset
    lua.lua_rawgeti(L, LUA_REGISTRYINDEX, state.known.tensor_metatables[view.dtype])
    lua.lua_setmetatable(L, -2)
    if br_tensor_reserve(tensor, view.ndim) != 0:
        raise MemoryError("no memory for a tensor's dimensions")
    tensor.nDimension = view.ndim
    for d in range(view.ndim):
        tensor.size[d] = view.size[d]
        tensor.stride[d] = view.stride[d]
    if storage != NULL:
        lua.lua_rawgeti(L, LUA_REGISTRYINDEX, state.pinned.lent)
        br_push_address(L, owner)
        lua.lua_pushvalue(L, -3)
        lua.lua_rawset(L, -3)
        lua_pop(L, 1)
    return 0


# ---- Python objects, and Lua values that come back to Lua

cdef int push_proxy(State state, lua_State *L, Proxy proxy) except -1:
    if proxy.state is not state:
        raise ValueError(f"{proxy.brief()} belongs to another Lua state; values do not move between states")
    lua.lua_rawgeti(L, LUA_REGISTRYINDEX, proxy.reference)
    return 0


cdef int push_object(State state, lua_State *L, object value, int cache) except -1:
    """Push the userdata (for a callable, the function) that represents an object; always the same while Lua has it."""
    if not lua.lua_checkstack(L, 8):
        raise MemoryError("no room on Lua's stack for a reference to a Python object")
    lua.lua_rawgeti(L, LUA_REGISTRYINDEX, cache)
    br_push_address(L, <void *>value)
    lua.lua_rawget(L, -2)
    if lua.lua_type(L, -1) != LUA_TNIL and not state.closed:     # a state that is being closed may have finalized it
        lua.lua_remove(L, -2)
        return 0
    lua_pop(L, 1)
    if br_push_reference(L, value, state.exception_metatable if isinstance(value, BaseException)
                         else state.object_metatable) != 0:
        raise MemoryError("no memory for a reference to a Python object")
    if cache == state.pinned.callables:
        br_push_address(L, <void *>state)
        lua.lua_pushcclosure(L, br_enter_python, 2)
    br_push_address(L, <void *>value)
    lua.lua_pushvalue(L, -2)
    lua.lua_rawset(L, -4)
    lua.lua_remove(L, -2)
    return 0
