"""A Lua state for `bridge.legacy`: calls, conversions, and which Python object represents which Lua object."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from types import TracebackType
from typing import Any, ClassVar

import numpy

from bridge._boundary import LuaObject, Proxy, State
from bridge.boundary.marks import Index
from bridge.errors import LuaError, StateClosed
from bridge.legacy.kinds import as_kind
from bridge.lua import Lua

ATTACHED = "bridge.legacy"


class Session:
    """The data that `bridge.legacy` keeps for a Lua state; `session_of` returns it.

    Its objects are instances of `bridge.legacy.objects.LegacyObject`. They call the session; it does not call them.
    """

    # A function that returns the Python class for a Lua class's lineage, or None. Set by `bridge.legacy`.
    class_of: ClassVar[staticmethod[[list[str]], type[object] | None]]

    def __init__(self, state: State) -> None:
        if state.gives_bytes:
            raise ValueError('bridge.legacy and bridge.nn need a bridge.Lua with strings="text"')
        self.state = state
        self.base = 1  # the first index in the call that is running
        self._lua: Any = state.helper("require", "bridge.runtime.legacy", proxies=True)
        self._call = self._lua.call
        self._run = self._lua.run
        self._inherited = self._lua.inherited
        self._identify = self._lua.identify
        self._restore = self._lua.restore
        self._living: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()
        self._classes: dict[str, type[object] | None] = {}
        # module's address -> its copies in bridge.nn, which must know of forwards that other code runs
        self.watchers: weakref.WeakValueDictionary[str, Any] = weakref.WeakValueDictionary()

    # ---- calls

    def _guarded(self, base: int, copy: bool | None, call: Callable[..., Any], *arguments: Any) -> Any:
        with self.state:
            outer, self.base = self.base, base
            try:
                return call(base, *arguments, copy=copy)
            except BaseException as error:
                if isinstance(error, LuaError):
                    error.count_from(base)
                if not self.state.closed:
                    self._restore(outer)
                raise
            finally:
                self.base = outer

    def call(
        self, target: LuaObject, name: str, *arguments: Any, base: int = 0, copy: bool | None = None
    ) -> Any:
        """Call a method. Indices in modules' inputs count from `base`; nothing else is converted."""
        return self._guarded(base, copy, self._call, target, name, *arguments)

    def run(self, function: Any, *arguments: Any, base: int = 0) -> Any:
        """Call a Lua function in the same way. Tensors in its results always share Lua's memory."""
        return self._guarded(base, False, self._run, function, *arguments)

    def inherited(
        self,
        typename: str,
        target: LuaObject,
        name: str,
        *arguments: Any,
        base: int = 0,
        copy: bool | None = None,
    ) -> Any:
        """Call the method of a class itself, also if a child class overrides it."""
        return self._guarded(base, copy, self._inherited, typename, target, name, *arguments)

    def ask(self, name: str, *arguments: Any) -> Any:
        """Call a function of `bridge/runtime/legacy.lua`."""
        return getattr(self._lua, name)(*arguments, copy=False)

    def function(self, name: str) -> Any:
        """Return a function of `bridge/runtime/legacy.lua`."""
        return getattr(self._lua, name)

    def pointer(self, target: LuaObject) -> str:
        """Return the address of a Lua object, which identifies it while it lives."""
        pointer: str = self._identify(target)[0]
        return pointer

    def require(self, name: str) -> Any:
        """Call Lua's `require`. Returns a table by reference."""
        return self.state.helper("require", name, proxies=True)

    # ---- values

    def to_lua(self, value: Any) -> Any:
        """Convert a value for Lua: a LegacyObject to its Lua object, a callable to a wrapped one."""
        if isinstance(value, str | int | float | numpy.ndarray | Index) or value is None:
            return value
        target = getattr(type(value), "_is_legacy", None) and value.__dict__["_object"]
        if target is not None:
            if target.state is not self.state:
                raise ValueError(
                    f"{type(value).__name__} belongs to another Lua state; values do not move between states"
                )
            return target
        if isinstance(value, list | tuple):
            return [self.to_lua(item) for item in value]
        if isinstance(value, dict):
            return {key: self.to_lua(item) for key, item in value.items()}
        if callable(value) and not isinstance(value, Proxy):
            return self.callback(value)
        return value

    def from_lua(self, value: Any, kind: str | None = None) -> Any:
        """Convert a value from Lua: objects to LegacyObjects, tensors to `kind` ("numpy", "torch"; None: unchanged)."""
        if isinstance(value, LuaObject):
            return self.shown(value)
        if isinstance(value, list):
            value[:] = [self.from_lua(item, kind) for item in value]
            return value
        if isinstance(value, tuple):
            return tuple(self.from_lua(item, kind) for item in value)
        if isinstance(value, dict):
            return {key: self.from_lua(item, kind) for key, item in value.items()}
        return as_kind(value, kind)

    def callback(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a Python function for Lua: it gets and returns LegacyObjects, and its own calls of Lua count from 1."""
        itself = weakref.ref(self)  # weak, because Python's garbage collector cannot find cycles through Lua

        def called(*arguments: Any) -> Any:
            session = itself()
            if session is None:
                raise StateClosed("the Lua state of this function is gone")
            outer, session.base = session.base, 1
            session._restore(1)
            try:
                result = function(*(session.from_lua(argument) for argument in arguments))
                if isinstance(result, tuple):
                    return tuple(session.to_lua(item) for item in result)
                return session.to_lua(result)
            finally:
                session.base = outer
                session._restore(outer)

        return called

    # ---- objects

    def shown(self, target: LuaObject) -> Any:
        """Return the Python object that represents a Lua object of a known class; any other object unchanged."""
        with self.state:
            pointer, typename = self._identify(target)
            if typename is None:
                return target
            living = self._living.get(pointer)
            if living is not None:
                return living
            cls = self._class(typename)
            if cls is None:
                return target
            made = cls.__new__(cls)
            self.adopt(made, target, pointer)
            return made

    def adopt(self, made: Any, target: LuaObject, pointer: str | None = None) -> None:
        """Let a Python object represent a Lua object."""
        made.__dict__["_object"] = target
        made.__dict__["_session"] = self
        self._living[pointer or self._identify(target)[0]] = made

    def _class(self, typename: str) -> type[object] | None:
        if typename not in self._classes:
            self._classes[typename] = self.class_of(self.ask("lineage", typename))
        return self._classes[typename]

    def register(self, typename: str, cls: type[object]) -> None:
        """Let a Python class represent a Lua class."""
        self._classes[typename] = cls

    def registered(self, typename: str) -> Any:
        """Return the Python class that represents a Lua class, or None."""
        return self._classes.get(typename)


def session_of(state: State) -> Session:
    """Return the session of a state, which is made the first time."""
    with state:
        session: Session | None = state.attached.get(ATTACHED)
        if session is None:
            session = state.attached[ATTACHED] = Session(state)
        return session


# ---- the state in which classes make objects

_guard = threading.RLock()
_default: Lua | None = None
_chosen: Lua | None = None


class Use:
    """The result of `use`: as a context manager, it returns to the state that was in use before."""

    def __init__(self, before: Lua | None) -> None:
        self._before = before

    def __enter__(self) -> Use:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        use(self._before)


def use(lua: Lua | None) -> Use:
    """Make objects in this state from now on, in all threads; None: in the process's own state.

    As a context manager, it returns to the state in use before: `with bridge.legacy.use(lua): ...`.

    Raises
    ------
    StateClosed
        The state is closed.
    """
    global _chosen
    if lua is not None and not isinstance(lua, Lua):
        raise TypeError(
            f"use takes a bridge.Lua, or None for the process's own state, got {type(lua).__name__}"
        )
    if lua is not None and lua.closed:
        raise StateClosed("this Lua state is closed")
    with _guard:
        before, _chosen = _chosen, lua
    return Use(before)


def state() -> Lua:
    """Return the `bridge.Lua` in use: the one chosen by `use`, or the process's own, which is made when first needed.

    The process's own state returns `torch.Tensor`s, like PyTorch's torch.legacy.
    """
    global _default  # noqa: PLW0603
    with _guard:
        if _chosen is not None:
            return _chosen
        if _default is None or _default.closed:
            _default = Lua(tensors="torch")
        return _default


def current() -> Session:
    """Return the session of the state in use."""
    return session_of(state().exclusive())
