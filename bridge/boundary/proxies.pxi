# Python objects that refer to Lua values: functions, tables by reference, and objects of torch classes.
cdef extern from *:
    """
    /* numpy and torch take a class with `[]` for a sequence and ask for items by number; they do not if it has no
       sq_item, as a mapping. */
    static void br_is_mapping(PyObject *type) { ((PyTypeObject *)type)->tp_as_sequence->sq_item = NULL; }
    """
    void br_is_mapping(object)

cdef class Proxy:
    """A Lua value that stays in Lua; base of LuaFunction, LuaTable and LuaObject.

    Tables and objects are used like dicts, with the keys they have in Lua: `[]` (KeyError if there is no such key),
    `in`, `for` and `keys()`. `len` is Lua's `#`. A proxy is not an array, and numpy refuses it.
    """
    cdef readonly State state
    cdef int reference

    __array_ufunc__ = None      # array == proxy is left to Proxy.__eq__

    def __dealloc__(self):
        if self.state is not None:
            self.state.forget(self.reference)

    def __eq__(self, other):
        if not isinstance(other, Proxy) or (<Proxy>other).state is not self.state:
            return NotImplemented
        return self.state.ask("same", (self, other))

    def __hash__(self):
        return self.state.ask("identity", (self,))

    def __repr__(self):
        return self.brief()

    cdef str brief(self):
        """One line, for errors."""
        if self.state.closed:
            return f"<{type(self).__name__} of a closed Lua state>"
        return f"<{type(self).__name__} {self.state.ask_text('describe', (self,))}>"

    def __array__(self, dtype=None, copy=None):
        raise TypeError(f"{self!r} stays in Lua and is no array; " + ("pass its value()" if isinstance(self, LuaTable)
                        else "pass what a field or a method of it gives"))

    def __reduce__(self):
        raise TypeError(f"a {type(self).__name__} lives in its Lua state and cannot be pickled; "
                        "save it in Lua with torch.save")


cdef class LuaFunction(Proxy):
    """A Lua function: call it with positional arguments; `returns=bridge.index` subtracts 1 from returned indices.

    Returned tensors share Lua's memory, which a later call may overwrite; with `copy=True` they are copies. The default
    is the state's option `copy`.

    Calling raises `LuaError` for an error in Lua, TypeError or OverflowError for an argument that Lua cannot have.
    """

    def __call__(self, *args, returns=None, copy=None):
        result = self.state.call(self.reference, args, 0, False, copies(self.state, copy))
        return result if returns is None else shift_results(result, returns)

    def results(self, *args, copy=None):
        """Call it and return every result in a list, however many there are."""
        return self.state.call(self.reference, args, 0, False, copies(self.state, copy), True)

    @property
    def __doc__(self):
        return self.state.ask_text("documentation", (self,))

    @property
    def __name__(self):
        return self.state.ask_text("function_name", (self,))

    @property
    def __signature__(self):
        return signature_of(self.state, self, False)


cdef class LuaMethod:
    """A function found on a Lua object, called with that object first."""
    cdef LuaFunction function
    cdef Proxy self_
    cdef str name

    def __call__(self, *args, returns=None, copy=None):
        cdef State state = self.self_.state
        try:
            result = state.call(self.function.reference, args, self.self_.reference, False, copies(state, copy))
        except LuaError as error:
            why = explained(error, self.self_, self.name, args)
            if why is error:
                raise
            raise why from error
        return result if returns is None else shift_results(result, returns)

    def __repr__(self):
        return f"<method {self.name} {self.function.brief()} of {self.self_.brief()}>"

    @property
    def __doc__(self):
        return self.function.__doc__

    @property
    def __name__(self):
        return self.name

    @property
    def __signature__(self):
        return signature_of(self.function.state, self.function, True)


cdef object signature_of(State state, LuaFunction function, bint bound_):
    """The signature for `inspect`: the function's parameter names, all positional."""
    if state.closed:
        raise AttributeError("__signature__")
    names = state.ask_text("parameters", (function,))
    return signature(names if isinstance(names, list) else list(names.values()), bound_)


cdef inline bint copies(State state, object copy) except -1:
    """Whether a call's results are copies: `copy`, or the state's setting if that is None."""
    return state.copying if copy is None else copy


cdef object shift_results(object result, object returns):
    if returns is not index:
        raise TypeError(f"returns= takes bridge.index, got {returns!r}")
    return shift_index(result, -1)


cdef class LuaTable(Proxy):
    """A reference to a Lua table: `lua.torch.zeros`, `table["key"]`. Keys are those of Lua.

    Tables inside it are returned as references too; `value()` converts it with everything in it.
    """

    def __getattr__(self, str name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = self.state.ask_proxy("index", (self, name))
        if value is None:
            raise AttributeError(f"{self.brief()} has no field {name!r}{pointer(name, LUTORPY)}")
        return value

    def __setattr__(self, str name, value):
        self.state.ask("assign", (self, name, value))

    def __getitem__(self, key):
        value = self.state.ask_proxy("index", (self, key))
        if value is None:
            raise KeyError(key)
        return value

    def __setitem__(self, key, value):
        self.state.ask("assign", (self, key, value))

    def __delitem__(self, key):
        if key not in self:
            raise KeyError(key)
        self.state.ask("assign", (self, key, None))

    def __contains__(self, key):
        return self.state.ask_proxy("index", (self, key)) is not None

    def __len__(self):
        return self.state.ask("length", (self,))

    def __iter__(self):
        return iter(self.keys())

    def __bool__(self):
        return True

    def __call__(self, *args, returns=None, copy=None):
        result = self.state.call(self.reference, args, 0, False, copies(self.state, copy))
        return result if returns is None else shift_results(result, returns)

    def __dir__(self):
        self.state.text_forced += 1
        try:
            return sorted({name for name in self.keys() if isinstance(name, str)} | {"keys", "value"})
        finally:
            self.state.text_forced -= 1

    def __instancecheck__(self, instance):
        return isinstance(instance, Proxy) and (<Proxy>instance).state is self.state \
            and self.state.ask("made_by", (instance, self))

    def keys(self):
        """The keys, as a list in Lua's order."""
        return self.state.ask_list("keys", (self,))

    def value(self):
        """The table converted to a list or dict, with everything in it."""
        return self.state.ask("itself", (self,))


cdef class LuaObject(Proxy):
    """An object of a Torch7 class, or another Lua value with methods: `object.field`, `object.method(...)`.

    A method may also be written with a leading underscore, `net._forward(x)`.
    """

    def __getattr__(self, str name):
        if name.startswith("__"):
            raise AttributeError(name)
        value = self.state.ask("index", (self, name))
        if value is None and name.startswith("_"):
            value = self.state.ask("index", (self, name[1:]))
        if value is None:
            raise AttributeError(f"{self.brief()} has no field or method {name!r}{pointer(name, LUTORPY)}")
        if isinstance(value, LuaFunction):
            return bound(<LuaFunction>value, self, name)
        return value

    def __setattr__(self, str name, value):
        self.state.ask("assign", (self, name, value))

    def __call__(self, *args, returns=None, copy=None):
        result = self.state.call(self.reference, args, 0, False, copies(self.state, copy))
        return result if returns is None else shift_results(result, returns)

    def __getitem__(self, key):
        value = self.state.ask("index", (self, key))
        if value is None:
            raise KeyError(key)
        return value

    def __setitem__(self, key, value):
        self.state.ask("assign", (self, key, value))

    def __delitem__(self, key):
        if key not in self:
            raise KeyError(key)
        self.state.ask("assign", (self, key, None))

    def __contains__(self, key):
        return self.state.ask("index", (self, key)) is not None

    def __len__(self):
        return self.state.ask("length", (self,))

    def __iter__(self):
        return iter(self.keys())

    def __bool__(self):
        return True

    def __str__(self):
        text = self.state.ask_text("text", (self,))
        return text.decode(errors="backslashreplace") if isinstance(text, bytes) else text

    def __repr__(self):
        if self.state.closed or not self.state.ask("prints_itself", (self,)):
            return self.brief()
        return str(self)

    def __dir__(self):
        self.state.text_forced += 1
        try:
            return sorted(set(self.state.ask_list("names", (self,))) | {"fields", "keys", "typename"})
        finally:
            self.state.text_forced -= 1

    def keys(self):
        """The keys of its fields or elements, as a list in Lua's order."""
        return self.state.ask_list("contents", (self,))

    @property
    def typename(self):
        """The name of its Torch7 class, or of its Lua type."""
        return self.state.ask_text("typename", (self,))

    def fields(self):
        """Its fields as a dict; tables in it are converted."""
        return self.state.ask("fields", (self,))


cdef LuaMethod bound(LuaFunction function, Proxy self_, str name):
    cdef LuaMethod method = LuaMethod.__new__(LuaMethod)
    method.name = name
    method.function = function
    method.self_ = self_
    return method


br_is_mapping(LuaTable)
br_is_mapping(LuaObject)
