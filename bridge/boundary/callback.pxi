# Python functions that Lua calls: arguments are pulled, results pushed, exceptions turned into Lua errors.

cdef class OwnFunction:
    """A function of this package that Lua calls: its arguments' strings are str whatever as_bytes says."""
    cdef object function

    def __init__(self, function):
        self.function = function

    def __call__(self, *arguments):
        return self.function(*arguments)


@cython.final
cdef class TorchFunction(OwnFunction):
    """An OwnFunction whose tensors are torch.Tensor whatever as_torch says."""


def own_function(function):
    """Wrap a function for Lua: strings are passed to it as str."""
    return OwnFunction(function)


def torch_function(function):
    """Wrap a function for Lua: tensors are passed to it as torch.Tensor. torch is imported at the first call."""
    return TorchFunction(function)


cdef int run_callback(State state, lua_State *L, object function) except -1:
    """Call a Python function with the arguments on L's stack. Returns the number of results pushed."""
    cdef int n = lua.lua_gettop(L), i, top
    cdef bint wants_torch = isinstance(function, TorchFunction)
    cdef bint own = isinstance(function, OwnFunction)
    cdef br_call call
    if br_stack_is_short():
        raise_short_stack()
    if not lua.lua_checkstack(L, 16):
        raise RecursionError("no room on Lua's stack for a callback")
    arguments = []
    if wants_torch:
        use_torch()
    state.torch_forced += wants_torch
    state.text_forced += own
    try:
        for i in range(1, n + 1):
            arguments.append(pull_value(state, L, i, None))
    finally:
        state.torch_forced -= wants_torch
        state.text_forced -= own
    result = function(*arguments)
    if result is None or type(result) is float or type(result) is bool:
        return push_value(state, L, result, 0) + 1
    values = tuple(result) if isinstance(result, tuple) else (result,)
    top = lua.lua_gettop(L)
    call.state = <void *>state
    call.arguments = <PyObject *>values
    call.self = 0
    call.pinned = &state.pinned
    call.push = push_call
    i = br_push_values(L, &call)
    if i < 0:
        raise_current()
    if i != 0:
        raise MemoryError("Lua has no memory for a callback's results")
    return lua.lua_gettop(L) - top


cdef int callback(lua_State *L, void *state_pointer, br_reference *reference) noexcept:
    """Called for every Python function that Lua calls. Pushes results and returns their number, or an error and -1."""
    cdef State state = <State>state_pointer
    cdef lua_State *outer = state.current
    state.current = L
    try:
        return run_callback(state, L, <object>reference.drop.object)
    except BaseException as exception:
        state.current = outer
        if not isinstance(exception, Exception):
            state.unwinding = exception
            br_hook_now(L)
        return push_exception(state, L, exception)
    finally:
        state.current = outer


cdef int push_exception(State state, lua_State *L, object exception) noexcept:
    """Push an exception as Lua's error value. Returns -1."""
    cdef br_call call
    arguments = (exception,)
    call.state = <void *>state
    call.arguments = <PyObject *>arguments
    call.self = 0
    call.pinned = &state.pinned
    call.push = push_call
    if br_push_values(L, &call) < 0:
        PyErr_WriteUnraisable(exception)
        lua.lua_pushnil(L)
    return -1


br_callback = callback
br_drops_wakeup = br_wakeup
