# Letting Python handle its signals while Lua runs: one state of the main thread has ticks (interrupt.h).
cdef extern from "boundary/interrupt.h":
    int (*br_exception_to_raise)(lua_State *, void *) noexcept
    void br_hook_now(lua_State *) nogil
    void br_unhook(lua_State *) nogil
    void br_start_ticking(lua_State *, const char *)
    void br_stop_ticking(lua_State *)

cdef extern from "Python.h":
    int PyErr_CheckSignals() except -1

cdef lua_State *ticking = NULL           # the state of the main thread whose loops Ctrl-C stops
cdef unsigned long main_thread = threading.main_thread().ident
cdef int TICK_MILLISECONDS = 100         # of processor time between two looks for a signal


cdef void start_ticking(lua_State *L) noexcept:
    """Move the process's one profiler to this state."""
    global ticking
    stop_ticking(ticking)
    ticking = L
    mode = f"li{TICK_MILLISECONDS}".encode()
    br_start_ticking(L, mode)


cdef void stop_ticking(lua_State *L) noexcept:
    """Take the ticks away from this state, if it has them."""
    global ticking
    if L != NULL and L == ticking:
        br_stop_ticking(L)
        ticking = NULL


cdef int exception_to_raise(lua_State *L, void *state_pointer) noexcept:
    """For the hook: let Python handle its signals; push what came of it."""
    cdef State state = <State>state_pointer
    if state.unwinding is None:
        try:
            PyErr_CheckSignals()
        except BaseException as exception:
            state.unwinding = exception
    if state.unwinding is None:
        return 0
    push_exception(state, L, state.unwinding)
    return 1


def _after_fork():
    """A child has no ticks: the timer stayed with its parent."""
    global main_thread
    main_thread = threading.main_thread().ident
    stop_ticking(ticking)


br_exception_to_raise = exception_to_raise
os.register_at_fork(after_in_child=_after_fork)
