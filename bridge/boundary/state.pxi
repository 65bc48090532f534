# A LuaJIT state: making and closing it, keeping other threads out, and calling Lua functions.
cdef extern from "boundary/prepare.h":
    ctypedef struct br_birth:
        void *state
        br_heap *heap
        br_known *known
        br_pinned *pinned
        int native
    int br_prepare(lua_State *) noexcept nogil
    void br_close(lua_State *, int) nogil

cdef extern from "boundary/cstack.h":
    bint br_stack_is_short() nogil
    size_t br_stack_size() nogil

cdef extern from "Python.h":
    unsigned long PyThread_get_thread_ident() nogil
    void PyErr_SetObject(object, object)
    void PyErr_WriteUnraisable(object)

cdef extern from "<dlfcn.h>":
    void *dlopen(const char *, int)
    void *dlsym(void *, const char *)
    int RTLD_LAZY, RTLD_NOLOAD

cdef class State:
    """One LuaJIT state and what the boundary keeps for it.

    Parameters
    ----------
    api : str
        Path of lupa's shared object, whose LuaJIT makes the state.
    as_torch, always_dict : bool
        Return tensors as torch.Tensor (else as arrays); return every table as a dict with its keys in Lua.
    busy_timeout : float
        Seconds to wait for a state that another thread uses.
    interruptible : bool
        Let Ctrl-C stop loops of the main thread (uses the process's SIGPROF).
    foreign : bool
        The state's tensors are those of a real Torch7 installation, not ours.
    as_bytes : bool
        Return strings as bytes.
    copying : bool
        Results of calls are copies unless a call says otherwise.

    Raises
    ------
    ImportError
        lupa is not loaded, or its LuaJIT lacks a function.
    MemoryError
        There is no memory for the state.
    """

    def __cinit__(self, str api, *, bint as_torch=False, bint always_dict=False, double busy_timeout=60.0,
                  bint interruptible=True, bint foreign=False, bint as_bytes=False, bint copying=False):
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
        self.return_torch = as_torch
        self.return_bytes = as_bytes
        self.always_dict = always_dict
        self.busy_timeout = busy_timeout
        self.interruptible = interruptible
        self.foreign = foreign
        self.copying = copying
        self.forgotten = []
        self.outer = []
        self.token = object()
        self.helpers = {}
        self.attached = {}
        self.available = threading.Condition()
        if as_torch or sys.modules.get("torch") is not None:
            use_torch()
        self.make()

    cdef int make(self) except -1:
        """Make the LuaJIT state; bridge/runtime/boot.lua then prepares it from inside."""
        cdef br_birth birth
        birth.state = <void *>self
        birth.heap = self.heap
        birth.known = &self.known
        birth.pinned = &self.pinned
        self.main = self.current = lua.luaL_newstate()
        if self.main == NULL:
            raise MemoryError("no memory for a Lua state")
        find_hook_mask(self.main)
        if lua.lua_cpcall(self.main, br_prepare, &birth) != 0:
            raise MemoryError("no memory for a Lua state's libraries")
        self.native = birth.native
        return 0

    def boot(self, str source, str name, tuple arguments):
        """Run boot.lua with (native, *arguments) and keep the functions that it returns as `helpers`, by name."""
        cdef lua_State *L = self.main
        cdef int top = lua.lua_gettop(L)
        cdef LuaTable made, native = LuaTable.__new__(LuaTable)
        code = source.encode()
        chunk = name.encode()
        if lua.luaL_loadbuffer(L, code, len(code), chunk) != 0:
            raise_lua_error(self, L)
        self.keep(L, "boot")
        native.reference = self.native
        native.state = self
        made = self.call(self.helpers["boot"], (native, *arguments), 0, True, False)
        lua.lua_rawgeti(L, LUA_REGISTRYINDEX, made.reference)
        lua.lua_pushnil(L)
        while lua.lua_next(L, top + 1):
            self.keep(L, string_value(L, top + 2))
        self.object_metatable = self.helpers["object_metatable"]
        self.exception_metatable = self.helpers["exception_metatable"]
        self.is_sequence = self.helpers["is_sequence"]
        self.read_integer = self.helpers["read_integer"]
        lua.lua_rawgeti(L, LUA_REGISTRYINDEX, self.object_metatable)
        self.object_pointer = lua.lua_topointer(L, -1)
        lua.lua_rawgeti(L, LUA_REGISTRYINDEX, self.exception_metatable)
        self.exception_pointer = lua.lua_topointer(L, -1)
        lua.lua_settop(L, top)

    cdef int keep(self, lua_State *L, str name) except -1:
        """Pop the value on top of the stack and keep it as the helper `name`."""
        cdef int reference, top = lua.lua_gettop(L)
        if br_reference_to(L, &self.pinned, top, &reference) != 0:
            raise MemoryError("no memory for a Lua state's helpers")
        lua.lua_settop(L, top - 1)
        self.helpers[name] = reference
        return 0

    # ---- one thread at a time

    cdef int enter(self) except -1:
        self.hold()
        if self.foreign:
            try:
                take_thread(self)
            except BaseException:
                self.let_go()
                raise
        return 0

    cdef int leave(self) except -1:
        try:
            if self.foreign:
                return_thread(self)
        finally:
            self.let_go()
        return 0

    cdef int hold(self) except -1:
        cdef unsigned long me = PyThread_get_thread_ident()
        if self.closed:
            raise StateClosed("this Lua state is closed")
        if self.owner == me and (self.entered_in == forks or me == survivor):
            self.depth += 1
            return 0
        if self.owner != 0:
            self.wait_for_turn()     # no Python code runs between its seeing `owner` 0 and the lines below
        if self.entered_in != forks:
            self.entered_in = forks
            self.available = threading.Condition()       # the threads that waited, and held its lock, are in the parent
            self.waiters = 0
        self.owner = me
        self.depth = 1
        br_drain(NULL)
        if self.forgotten:
            self.give_back_references()
        if me != main_thread:
            stop_ticking(self.main)      # so a state with ticks is idle or the main thread's, which may move them
        elif self.interruptible and ticking != self.main:
            start_ticking(self.main)
        return 0

    def __enter__(self):
        """Keep other threads out until `__exit__`, for several calls together; may be nested."""
        self.enter()
        return self

    def __exit__(self, *exception):
        if self.owner != PyThread_get_thread_ident():
            raise RuntimeError("this thread does not hold the Lua state")
        self.leave()

    cdef int let_go(self) except -1:
        self.depth -= 1
        if self.depth == 0:
            self.owner = 0
            if self.waiters and self.entered_in == forks:
                with self.available:
                    self.available.notify()
        return 0

    cdef int wait_for_turn(self) except -1:
        cdef double left, deadline = time.monotonic() + self.busy_timeout
        if self.entered_in != forks:
            raise StateClosed(
                "this Lua state was in use by another thread when the process forked, and that thread is not in this "
                "process; make the state after the fork, or fork while no thread uses it")
        while self.owner != 0:
            left = deadline - time.monotonic()
            if left <= 0:
                raise StateBusy(
                    f"the Lua state is still in use by another thread after {self.busy_timeout:g} s; use a state per "
                    "thread (or bridge.LuaPool), or a larger busy_timeout; a callback must not wait for a thread that "
                    "needs its own state")
            with self.available:
                self.waiters += 1
                try:
                    if self.owner != 0:
                        self.available.wait(left)
                finally:
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
        """Close the state. Arrays and tensors that share its memory stay usable; proxies do not.

        Lua's finalizers run, without the GIL. In the main thread, Ctrl-C stops them; the state is closed nevertheless.
        Raises RuntimeError from within a callback of this state.
        """
        cdef lua_State *L = self.main
        cdef bint ticks
        if self.closed or L == NULL:     # NULL: making it failed
            return
        if self.owner != 0 and self.entered_in != forks:
            # At the fork a thread of the parent process was inside: the Lua state is half changed and cannot be closed.
            self.closed = True
            return
        self.enter()
        if self.depth > 1:
            self.leave()
            raise RuntimeError("a Lua state cannot be closed from a callback that it runs")
        stop_ticking(L)
        ticks = self.interruptible and self.owner == main_thread
        self.closed = True
        try:
            with nogil:
                br_close(L, ticks)
        finally:
            self.main = self.current = NULL
            br_drain(NULL)
            self.leave()
        if self.unwinding is not None:
            unwinding, self.unwinding = self.unwinding, None
            raise unwinding

    def __del__(self):
        self.close()

    def __dealloc__(self):
        br_heap_release(self.heap)

    @property
    def held_bytes(self):
        """Bytes of tensor memory that this state keeps alive."""
        return br_heap_held(self.heap)

    # ---- calls into Lua

    cdef object call(self, int function, tuple arguments, int self_reference, bint proxies, bint copies,
                     bint as_list=False):
        """Call a Lua function by its reference.

        Returns None, the value, or a tuple of several values; with `as_list` always a list. `self_reference`: the
        object to pass before the arguments, or 0. `proxies`, `copies`: tables as proxies, arrays as copies.
        """
        cdef br_call call
        cdef lua_State *L
        cdef int top, n, rc, i
        cdef bint outer_proxies = self.proxies_wanted, outer_copies = self.copies_wanted
        if br_stack_is_short():
            raise_short_stack()
        self.enter()
        L = self.current
        top = lua.lua_gettop(L)
        call.state = <void *>self
        call.arguments = <PyObject *>arguments
        call.function = function
        call.self = self_reference
        call.pinned = &self.pinned
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
            if rc == LUA_ERRMEM:
                br_recover(L, &self.pinned)
            if rc != 0:
                raise_lua_error(self, L)
            n = lua.lua_gettop(L) - top
            self.proxies_wanted = proxies
            self.copies_wanted = copies
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
            self.proxies_wanted = outer_proxies
            self.copies_wanted = outer_copies
            lua.lua_settop(L, top)
            self.leave()

    cdef object ask(self, str helper, tuple arguments):
        """Call a function of boot.lua."""
        return self.call(self.helpers[helper], arguments, 0, False, False)

    cdef object ask_proxy(self, str helper, tuple arguments):
        return self.call(self.helpers[helper], arguments, 0, True, False)

    cdef object ask_text(self, str helper, tuple arguments):
        """Call a function of boot.lua and return its strings as str, because this package itself uses them."""
        self.text_forced += 1
        try:
            return self.ask(helper, arguments)
        finally:
            self.text_forced -= 1

    cdef list ask_list(self, str helper, tuple arguments):
        """Call a function of boot.lua that returns a sequence, and return it as a list whatever always_dict says."""
        cdef bint always_dict = self.always_dict
        self.always_dict = False
        try:
            return self.ask(helper, arguments)
        finally:
            self.always_dict = always_dict

    def helper(self, str name, *arguments, bint proxies=False, bint copies=False):
        """Call a function of boot.lua by name."""
        return self.call(self.helpers[name], arguments, 0, proxies, copies)

    def texts(self):
        """Return strings as str for several calls, whatever as_bytes says: `with state.texts():`."""
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
        """Load the torch package (`require 'torch'`) before the first tensor is pushed."""
        cdef int top = lua.lua_gettop(L)
        if self.known.tensor_metatables[0]:
            return 0
        lua.lua_rawgeti(L, LUA_REGISTRYINDEX, self.helpers["require_torch"])
        if lua.lua_pcall(L, 0, 0, 0) != 0:
            raise_lua_error(self, L)
        lua.lua_settop(L, top)
        return 0

    cdef int need_device(self, lua_State *L) except -1:
        """Load cutorch before the first tensor on a device is pushed. Raises TypeError if the state has no device."""
        cdef int top = lua.lua_gettop(L)
        if self.known.tensor_metatables[BR_DEVICE]:
            return 0
        lua.lua_rawgeti(L, LUA_REGISTRYINDEX, self.helpers["require_cutorch"])
        if lua.lua_pcall(L, 0, 0, 0) != 0:
            raise_lua_error(self, L)
        lua.lua_settop(L, top)
        if not self.known.tensor_metatables[BR_DEVICE]:
            raise TypeError("this state has no GPU for a tensor that is on one (MOONTIDE_CUDA is set so); "
                            "pass tensor.cpu()")
        return 0
