# A LuaJIT state: entering it, calling into it, and being called from it.
cdef extern from "boundary/trampoline.h":
    ctypedef struct br_known:
        int tensor_metatables[16]
        const void *tensor_pointers[16]
        const void *storage_pointers[16]
        const void *cuda_tensor_pointers[8]
        const void *cuda_storage_pointers[8]
    int br_register(lua_State *) noexcept nogil
    int luaopen_bridge_core(lua_State *) noexcept nogil

cdef extern from "Python.h":
    unsigned long PyThread_get_thread_ident() nogil
    void PyErr_SetObject(object, object)
    void PyErr_WriteUnraisable(object)

cdef extern from "<dlfcn.h>":
    void *dlopen(const char *, int)
    void *dlsym(void *, const char *)
    int RTLD_LAZY, RTLD_NOLOAD

cdef void set_exception(object exception) noexcept:
    PyErr_SetObject(type(exception), exception)


cdef class State:
    """One LuaJIT state and what the boundary knows of it.

    Parameters
    ----------
    runtime : lupa.luajit21.LuaRuntime
        Made for this State alone; closed with it.
    api : str
        Path of lupa's shared object, whose `lua_*` functions are used.
    as_torch, always_dict : bool
        Tensors come back as torch.Tensor; tables come back as dicts with their own keys.
    busy_timeout : float
        Seconds to wait for a state that another thread uses.
    interruptible : bool
        Let Ctrl-C stop loops of the main thread (takes the process's SIGPROF).
    foreign : bool
        The state's tensors are a real Torch7's, not ours.
    as_bytes : bool
        Strings come back as bytes.
    """
    cdef lua_State *main
    cdef lua_State *current                  # the coroutine that runs now, in a callback
    cdef object runtime
    cdef br_heap *heap
    cdef br_known known
    cdef readonly bint closed
    cdef bint return_torch, return_bytes, always_dict, foreign, interruptible
    cdef int torch_forced                    # depth of callbacks that take torch tensors whatever the option says
    cdef int text_forced                     # depth of calls whose strings are str whatever the option says
    cdef bint proxies_wanted
    cdef int on_error, enter_lua             # registry: what every call into Lua runs
    cdef int callables, objects, lent        # registry: weak tables of what stands for a Python object
    cdef int object_metatable, exception_metatable, is_sequence, read_integer
    cdef const void *object_pointer
    cdef const void *exception_pointer
    cdef dict helpers                        # name -> registry reference of a Lua function of ours
    cdef list forgotten                      # references to give back when somebody is inside
    cdef unsigned long owner                 # the thread inside, 0 for none
    cdef int depth
    cdef int waiters
    cdef object available                    # a Condition, for threads that wait
    cdef double busy_timeout
    cdef object unwinding                    # an exception that no pcall may swallow
    cdef readonly dict attached              # what Python keeps with this state, by the name of the package

    def __cinit__(self, runtime, str api, *, bint as_torch=False, bint always_dict=False, double busy_timeout=60.0,
                  bint interruptible=True, bint foreign=False, bint as_bytes=False):
        cdef void *handle = dlopen(api.encode(), RTLD_LAZY | RTLD_NOLOAD)
        cdef const char *missing
        if handle == NULL:
            raise ImportError(f"{api} is not loaded")
        missing = lua_api_load(handle)
        if missing != NULL:
            raise ImportError(f"{api} has no {missing.decode()}; moontide needs lupa >= 2.8 with LuaJIT 2.1")
        self.heap = br_heap_new()
        if self.heap == NULL:
            raise MemoryError("no memory for a Lua state")
        self.runtime = runtime
        self.return_torch = as_torch
        self.return_bytes = as_bytes
        self.always_dict = always_dict
        self.busy_timeout = busy_timeout
        self.interruptible = interruptible
        self.foreign = foreign
        self.forgotten = []
        self.helpers = {}
        self.attached = {}
        self.available = threading.Condition()
        if as_torch or sys.modules.get("torch") is not None:
            use_torch()
        tell = runtime.eval(b"function(path) return assert(package.loadlib(path, 'luaopen_bridge_state'))() end")
        tell(os.fsencode(__file__))(<double><uintptr_t>&self.main)
        self.current = self.main
        self.prepare()

    cdef int prepare(self) except -1:
        """Fill the registry and the table of native functions; the Lua side goes on in bridge/lua/boot.lua."""
        cdef lua_State *L = self.main
        lua.lua_pushlightuserdata(L, <void *>self)
        lua.lua_setfield(L, LUA_REGISTRYINDEX, b"bridge.state")
        br_call_functions(L, &self.on_error, &self.enter_lua)
        self.callables = self.weak_table(L)
        self.objects = self.weak_table(L)
        self.lent = self.weak_table(L)
        lua.lua_pushcclosure(L, luaopen_bridge_core, 0)
        if lua.lua_pcall(L, 0, 1, 0) != 0:
            self.raise_error(L)
        lua.lua_pushlightuserdata(L, self.heap)
        lua.lua_setfield(L, -2, b"heap")
        lua.lua_pushthread(L)
        lua.lua_setfield(L, -2, b"main_thread")
        lua.lua_pushlightuserdata(L, &self.known)
        lua.lua_pushcclosure(L, br_register, 1)
        lua.lua_setfield(L, -2, b"register")
        self.helpers["native"] = lua.luaL_ref(L, LUA_REGISTRYINDEX)
        return 0

    cdef int weak_table(self, lua_State *L):
        lua.lua_createtable(L, 0, 0)
        lua.lua_createtable(L, 0, 1)
        lua.lua_pushlstring(L, b"v", 1)
        lua.lua_setfield(L, -2, b"__mode")
        lua.lua_setmetatable(L, -2)
        return lua.luaL_ref(L, LUA_REGISTRYINDEX)

    def boot(self, str source, str name, tuple arguments):
        """Run boot.lua with (native, *arguments); the table of helpers that it returns is kept by name."""
        cdef lua_State *L = self.main
        cdef int top = lua.lua_gettop(L)
        cdef LuaTable made, native = LuaTable.__new__(LuaTable)
        code = source.encode()
        chunk = name.encode()
        if lua.luaL_loadbuffer(L, code, len(code), chunk) != 0:
            self.raise_error(L)
        self.helpers["boot"] = lua.luaL_ref(L, LUA_REGISTRYINDEX)
        lua.lua_rawgeti(L, LUA_REGISTRYINDEX, self.helpers["native"])
        native.reference = lua.luaL_ref(L, LUA_REGISTRYINDEX)
        native.state = self
        made = self.call(self.helpers["boot"], (native, *arguments), 0, True)
        lua.lua_rawgeti(L, LUA_REGISTRYINDEX, made.reference)
        lua.lua_pushnil(L)
        while lua.lua_next(L, top + 1):
            self.helpers[string_value(L, top + 2)] = lua.luaL_ref(L, LUA_REGISTRYINDEX)
        self.object_metatable = self.helpers["object_metatable"]
        self.exception_metatable = self.helpers["exception_metatable"]
        self.is_sequence = self.helpers["is_sequence"]
        self.read_integer = self.helpers["read_integer"]
        lua.lua_rawgeti(L, LUA_REGISTRYINDEX, self.object_metatable)
        self.object_pointer = lua.lua_topointer(L, -1)
        lua.lua_rawgeti(L, LUA_REGISTRYINDEX, self.exception_metatable)
        self.exception_pointer = lua.lua_topointer(L, -1)
        lua.lua_settop(L, top)

    # ---- one thread at a time

    cdef int enter(self) except -1:
        cdef unsigned long me = PyThread_get_thread_ident()
        if self.closed:
            raise StateClosed("this Lua state is closed")
        if self.owner == me:
            self.depth += 1
            return 0
        if self.owner != 0:
            self.wait_for_turn()     # returns with no step of Python between seeing it free and here
        self.owner = me
        self.depth = 1
        br_drain(NULL)
        if self.forgotten:
            self.give_back_references()
        if me != main_thread:
            stop_ticking(self.main)      # a state with ticks is idle or the main thread's: so they can always be moved
        elif self.interruptible and ticking != self.main:
            start_ticking(self.main)
        return 0

    def __enter__(self):
        """Keep other threads out for several calls, until `__exit__`; may be nested."""
        self.enter()
        return self

    def __exit__(self, *exception):
        if self.owner != PyThread_get_thread_ident():
            raise RuntimeError("this thread does not hold the Lua state")
        self.leave()

    cdef int leave(self) except -1:
        self.depth -= 1
        if self.depth == 0:
            self.owner = 0
            if self.waiters:
                with self.available:
                    self.available.notify()
        return 0

    cdef int wait_for_turn(self) except -1:
        cdef double left, deadline = time.monotonic() + self.busy_timeout
        while self.owner != 0:
            left = deadline - time.monotonic()
            if left <= 0:
                raise StateBusy(
                    f"the Lua state is still in use by another thread after {self.busy_timeout:g} s; use a state per "
                    "thread (or bridge.LuaPool), or a larger busy_timeout; a callback must not wait for a thread that "
                    "needs its own state")
            with self.available:
                self.waiters += 1
                if self.owner != 0:
                    self.available.wait(left)
                self.waiters -= 1
        if self.closed:
            raise StateClosed("this Lua state was closed while a thread waited for it")
        return 0

    cdef void forget(self, int reference) noexcept:
        if not self.closed and reference:
            self.forgotten.append(reference)

    cdef int give_back_references(self) except -1:
        cdef int reference
        references, self.forgotten = self.forgotten, []
        for reference in references:
            lua.luaL_unref(self.main, LUA_REGISTRYINDEX, reference)
        return 0

    def close(self):
        """Close the state; values that came from it stay usable where they share memory, proxies do not."""
        if self.closed:
            return
        self.enter()
        if self.depth > 1:
            self.leave()
            raise RuntimeError("a Lua state cannot be closed from a callback that it runs")
        stop_ticking(self.main)
        self.closed = True
        self.runtime = None
        self.main = self.current = NULL
        br_drain(NULL)
        self.leave()

    def __del__(self):
        self.close()

    def __dealloc__(self):
        br_heap_release(self.heap)

    @property
    def held_bytes(self):
        """Bytes of tensor memory that this state keeps alive."""
        return br_heap_held(self.heap)

    # ---- calls into Lua

    cdef object call(self, int function, tuple arguments, int self_reference, bint proxies, bint as_list=False):
        """Call a function by reference; None, the value, or a tuple of several; or always a list."""
        cdef br_call call
        cdef lua_State *L
        cdef int top, n, rc, i
        self.enter()
        L = self.current
        top = lua.lua_gettop(L)
        call.state = <void *>self
        call.arguments = <PyObject *>arguments
        call.function = function
        call.self = self_reference
        call.on_error = self.on_error
        call.enter = self.enter_lua
        call.push = push_call
        call.saved = NULL
        try:
            rc = br_call_lua(L, &call)
            if self.unwinding is not None:
                unwinding, self.unwinding = self.unwinding, None
                br_unhook(L)
                raise unwinding
            if rc < 0:
                raise_current()
            if rc != 0:
                self.raise_error(L)
            n = lua.lua_gettop(L) - top
            self.proxies_wanted = proxies
            if n == 0 and not as_list:
                return None
            if n == 1 and not as_list:
                return pull_value(self, L, top + 1, None)
            if not lua.lua_checkstack(L, 16):
                raise MemoryError("no room on Lua's stack for the results")
            results = []
            for i in range(n):
                results.append(pull_value(self, L, top + 1 + i, None))
            return results if as_list else tuple(results)
        finally:
            self.proxies_wanted = False
            lua.lua_settop(L, top)
            self.leave()

    cdef object ask(self, str helper, tuple arguments):
        """Call a function of boot.lua."""
        return self.call(self.helpers[helper], arguments, 0, False)

    cdef object ask_proxy(self, str helper, tuple arguments):
        return self.call(self.helpers[helper], arguments, 0, True)

    cdef object ask_text(self, str helper, tuple arguments):
        """Call a function of boot.lua whose answer is for Python's own use: its strings are str."""
        self.text_forced += 1
        try:
            return self.ask(helper, arguments)
        finally:
            self.text_forced -= 1

    cdef list ask_list(self, str helper, tuple arguments):
        """Call a function of boot.lua that returns a sequence: a list whatever the state makes of tables."""
        cdef bint always_dict = self.always_dict
        self.always_dict = False
        try:
            return self.ask(helper, arguments)
        finally:
            self.always_dict = always_dict

    def helper(self, str name, *arguments, bint proxies=False):
        """Call a function of boot.lua by name."""
        return self.call(self.helpers[name], arguments, 0, proxies)

    def texts(self):
        """Have strings come back as str for several calls, whatever the state makes of them: `with state.texts():`."""
        return Texts(self)

    @property
    def gives_bytes(self):
        """Whether strings come back as bytes."""
        return self.return_bytes

    cdef bint as_bytes(self):
        return self.return_bytes and self.text_forced == 0

    cdef bint as_torch(self):
        return self.return_torch or self.torch_forced > 0

    cdef int need_torch7(self, lua_State *L) except -1:
        """Have `require 'torch'` done before the first tensor arrives."""
        cdef int top = lua.lua_gettop(L)
        if self.known.tensor_metatables[0] or self.foreign:
            return 0
        lua.lua_rawgeti(L, LUA_REGISTRYINDEX, self.helpers["require_torch"])
        if lua.lua_pcall(L, 0, 0, 0) != 0:
            self.raise_error(L)
        lua.lua_settop(L, top)
        return 0

    cdef int need_device(self, lua_State *L) except -1:
        """Have `require 'cutorch'` done before the first tensor on a device arrives."""
        cdef int top = lua.lua_gettop(L)
        if self.known.tensor_metatables[BR_DEVICE]:
            return 0
        lua.lua_rawgeti(L, LUA_REGISTRYINDEX, self.helpers["require_cutorch"])
        if lua.lua_pcall(L, 0, 0, 0) != 0:
            self.raise_error(L)
        lua.lua_settop(L, top)
        if not self.known.tensor_metatables[BR_DEVICE]:
            raise TypeError("this state has no GPU for a tensor that is on one (MOONTIDE_CUDA is set so); "
                            "pass tensor.cpu()")
        return 0

    # ---- errors

    cdef int raise_error(self, lua_State *L) except -1:
        """Raise what lies on top of the stack, with the traceback that the message handler left."""
        cdef int top = lua.lua_gettop(L)
        lua.lua_getfield(L, LUA_REGISTRYINDEX, b"bridge.traceback")
        traceback = string_value(L, top + 1) if lua.lua_type(L, top + 1) == LUA_TSTRING else ""
        lua_pop(L, 1)
        lua.lua_pushnil(L)
        lua.lua_setfield(L, LUA_REGISTRYINDEX, b"bridge.traceback")
        lua.lua_getfield(L, LUA_REGISTRYINDEX, b"bridge.detail")
        detail = string_value(L, top + 1) if lua.lua_type(L, top + 1) == LUA_TSTRING else ""
        lua_pop(L, 1)
        lua.lua_pushnil(L)
        lua.lua_setfield(L, LUA_REGISTRYINDEX, b"bridge.detail")
        self.proxies_wanted = False
        value = pull_value(self, L, top, None)
        if isinstance(traceback, bytes):
            traceback = traceback.decode(errors="replace")
        if isinstance(value, BaseException):
            if not isinstance(value, Exception):
                raise value
            raise LuaError(f"{type(value).__name__}: {value}", traceback, value, value) from value
        raise LuaError(error_message(value), traceback, value, None, detail)


cdef int raise_current() except -1:
    """Go on with the exception that is set already."""
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


@cython.final
cdef class Texts:
    """What `State.texts` returns."""
    cdef State state

    def __init__(self, State state):
        self.state = state

    def __enter__(self):
        self.state.enter()
        self.state.text_forced += 1

    def __exit__(self, *exception):
        self.state.text_forced -= 1
        self.state.leave()


def own_function(function):
    """A function for Lua whose strings arrive as str."""
    return OwnFunction(function)


def torch_function(function):
    """A function for Lua whose tensors arrive as torch.Tensor; torch is imported when it is first called."""
    return TorchFunction(function)


def load_torch():
    """Import torch, reach its C shim, and answer the path of the library that holds it."""
    use_torch()
    return torch_library(torch)
