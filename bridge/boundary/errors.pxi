# Lua errors as Python exceptions, and exceptions that several files of the boundary raise.

cdef int raise_lua_error(State state, lua_State *L) except -1:
    """Raise the error on top of the stack as LuaError, with the traceback that the message handler kept."""
    cdef int top = lua.lua_gettop(L)
    lua.lua_rawgeti(L, LUA_REGISTRYINDEX, state.pinned.traceback)
    traceback = string_value(L, top + 1) if lua.lua_type(L, top + 1) == LUA_TSTRING else ""
    lua_pop(L, 1)
    lua.lua_pushboolean(L, False)
    lua.lua_rawseti(L, LUA_REGISTRYINDEX, state.pinned.traceback)
    lua.lua_getfield(L, LUA_REGISTRYINDEX, BR_DETAIL)
    detail = string_value(L, top + 1) if lua.lua_type(L, top + 1) == LUA_TSTRING else ""
    lua_pop(L, 1)
    lua.lua_pushboolean(L, False)
    lua.lua_setfield(L, LUA_REGISTRYINDEX, BR_DETAIL)
    state.proxies_wanted = state.copies_wanted = False
    value = pull_value(state, L, top, None)
    if isinstance(traceback, bytes):
        traceback = traceback.decode(errors="replace")
    if isinstance(value, BaseException):
        if not isinstance(value, Exception):
            raise value
        # a LuaError that has crossed the boundary before keeps its message, which would grow with every crossing
        message = value.message if isinstance(value, LuaError) else f"{type(value).__name__}: {value}"
        raise LuaError(message, traceback, value, value) from value
    raise LuaError(error_message(value), traceback, value, None, detail)


cdef int raise_short_stack() except -1:
    raise RecursionError(
        f"this thread's C stack of {br_stack_size() >> 10} KiB is nearly used up: Lua and Python call each other, or "
        "containers are nested, too deeply; a thread gets more by threading.stack_size(bytes)")


cdef void set_exception(object exception) noexcept:
    PyErr_SetObject(type(exception), exception)


cdef int raise_current() except -1:
    """Report the exception that C code has set."""
    return -1 if PyErr_Occurred() != NULL else 0


cdef str error_message(object value):
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode(errors="backslashreplace")
    if isinstance(value, dict):
        for key in ("message", "msg", b"message", b"msg"):
            if isinstance(value.get(key), (str, bytes)):
                return error_message(value[key])
    if isinstance(value, LuaObject):
        return str(value)
    return f"error with a value: {value!r}"
