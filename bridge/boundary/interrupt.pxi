# Ctrl-C while Lua runs. One state of the main thread has ticks (see interrupt.h), at which Python handles its signals.
cdef extern from "boundary/prepare.h":
    lua_State *(*br_exception_to_raise)(lua_State *, void *) noexcept
    void br_find_hook_mask(lua_State *) nogil
    void br_hook_now(lua_State *) nogil
    void br_unhook(lua_State *) nogil
    void br_start_ticking(lua_State *)
    void br_stop_ticking(lua_State *)

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1

cdef lua_State *ticking = NULL           # the state with ticks: Ctrl-C stops its loops
cdef unsigned long main_thread = threading.main_thread().ident
cdef int forks = 0                       # forks between the process that imported this module and this one
cdef unsigned long survivor = 0          # in a forked child: its only thread, the one that forked


cdef bint looked_for_hook_mask = False


cdef void find_hook_mask(lua_State *L) noexcept:
    """Find, in the first state, where LuaJIT stores that hooks must not run."""
    global looked_for_hook_mask
    if not looked_for_hook_mask:
        looked_for_hook_mask = True
        br_find_hook_mask(L)


cdef void start_ticking(lua_State *L) noexcept:
    """Move LuaJIT's profiler, of which a process has one, to this state."""
    global ticking
    stop_ticking(ticking)
    ticking = L
    br_start_ticking(L)


cdef void stop_ticking(lua_State *L) noexcept:
    """Take the ticks away from this state, if it has them."""
    global ticking
    if L != NULL and L == ticking:
        br_stop_ticking(L)
        ticking = NULL


cdef lua_State *exception_to_raise(lua_State *L, void *state_pointer) noexcept:
    """Called by the hook: let Python handle its signals, and push the exception that this raises.

    Returns the state's main thread, or NULL if there is no exception.
    """
    cdef State state = <State>state_pointer
    if state.unwinding is None:
        try:
            PyErr_CheckSignals()
        except BaseException as exception:
            state.unwinding = exception
    if state.unwinding is None:
        return NULL
    push_exception(state, L, state.unwinding)
    return state.main


def _after_fork():
    """A forked child has one thread, and no ticks: the timer is its parent's."""
    global main_thread, forks, survivor
    forks += 1
    main_thread = survivor = threading.main_thread().ident
    stop_ticking(ticking)


br_exception_to_raise = exception_to_raise
os.register_at_fork(after_in_child=_after_fork)
