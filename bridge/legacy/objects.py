"""Lua objects of Torch7 classes as Python objects: fields as attributes, methods that count from 0.

All data is in the Lua object: setting an attribute sets a field. So an object that Lua returns after Python has
forgotten it is the same as before.
"""

from __future__ import annotations

import inspect
import re
import threading
import types
from collections.abc import Callable
from typing import Any, ClassVar, Self

from bridge._boundary import LuaFunction, LuaMethod, LuaObject
from bridge.boundary.refusals import explained
from bridge.errors import LuaError
from bridge.legacy.kinds import kind_of, marked
from bridge.legacy.positions import Row, method_form, position, rows
from bridge.legacy.session import Session, current

OWN = ("_object", "_session")


def lua_method(name: str, text: str, *, first: bool = False) -> Callable[..., Any]:
    """Make a method that calls the Lua method. Called by super() from a class written in Python, it calls that of nn.

    With `first`, only the first result is returned.
    """

    def method(self: LegacyObject, *arguments: Any, copy: bool | None = None) -> Any:
        own = getattr(type(self), name, None)
        inherited = own is not method and not type(self)._native
        result = self._invoke(name, arguments, inherited=inherited, copy=copy)
        return result[0] if first and isinstance(result, tuple) else result

    method.__name__ = name
    method.__qualname__ = f"LegacyObject.{name}"
    method.__doc__ = text
    return method


class LegacyObject:
    """A Lua object of a Torch7 class, made by calling the class or returned from Lua.

    Methods return tensors of the kind of their arguments, numpy or torch; without tensors in the arguments, of the
    state's kind. They share Lua's memory, which the next call may overwrite, unless the call or the state says
    `copy=True`.
    """

    _is_legacy: ClassVar[bool] = True
    _typename: ClassVar[str] = ""
    _native: ClassVar[bool] = True  # whether the class is one of Lua's, not one written in Python
    _lineage: ClassVar[tuple[str, ...]] = ()

    _object: LuaObject
    _session: Session

    def __init_subclass__(cls, *, native: bool = False, **options: Any) -> None:
        super().__init_subclass__(**options)
        if native:
            return
        cls._native = False
        cls._typename = "python." + re.sub(r"\W+", "_", f"{cls.__module__}_{cls.__qualname__}")

    # ---- construction

    @classmethod
    def _parent(cls) -> type[LegacyObject]:
        """Return the nearest parent that is a class in Lua."""
        return next(base for base in cls.__mro__[1:] if base.__dict__.get("_typename"))

    @classmethod
    def _define(cls, session: Session) -> None:
        """Define the Torch7 class for a class written in Python, if this state does not have it."""
        if session.registered(cls._typename) is cls:
            return
        parent = cls._parent()
        if not parent._native:
            parent._define(session)
        session.ask(
            "define",
            cls._typename,
            parent._typename,
            {
                name: session.callback(value)
                for name, value in cls.__dict__.items()
                if inspect.isfunction(value) and not name.startswith("_")
            },
        )
        session.register(cls._typename, cls)

    def _construct(self, typename: str, arguments: list[Any]) -> None:
        """Make the Lua object by the constructor of the class `typename`, with arguments for Lua."""
        cls = type(self)
        session = current()
        values = [session.to_lua(argument) for argument in arguments]
        with session.state:
            if not cls._native:
                cls._define(session)
                target = session.ask("construct_as", cls._typename, typename, *values)
            else:
                target = session.ask("construct", typename, *values)
            session.adopt(self, target)

    # ---- calls

    def _invoke(
        self, name: str, arguments: tuple[Any, ...], *, inherited: bool = False, copy: bool | None = None
    ) -> Any:
        session = self._session
        form = method_form(self._lineage, name)
        values = list(arguments) if form is None else form.bind(name, arguments, {})
        values = [session.to_lua(value) for value in values]
        base = 1 if marked(arguments) else 0
        try:
            if inherited:
                native = next(
                    c._typename for c in type(self).__mro__ if issubclass(c, LegacyObject) and c._native
                )
                result = session.inherited(native, self._object, name, *values, base=base, copy=copy)
            else:
                result = session.call(self._object, name, *values, base=base, copy=copy)
        except LuaError as error:
            why = explained(error, self._object, name, arguments)
            if why is error:
                raise
            raise why from error
        if session.watchers and name in ("forward", "updateOutput"):
            watcher = session.watchers.get(session.pointer(self._object))
            if watcher is not None:
                watcher.overrun()
        result = session.from_lua(result, kind_of(arguments))
        return form.result(result, -1) if form is not None and form.result is not None else result

    # ---- fields

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in OWN:
            raise AttributeError(
                f"this {type(self).__name__} is not made yet: call super().__init__() before anything else"
            )
        value = getattr(self._object, name)
        if isinstance(value, LuaMethod):
            return self._bound(name)
        if isinstance(value, LuaFunction):
            return value
        shift = position(self._lineage, name)
        return self._session.from_lua(value if shift is None else shift(value, -1))

    def _bound(self, name: str) -> Callable[..., Any]:
        def method(*arguments: Any, copy: bool | None = None) -> Any:
            return self._invoke(name, arguments, copy=copy)

        method.__name__ = name
        method.__qualname__ = f"{type(self).__name__}.{name}"
        return method

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(getattr(type(self), name, None), property) or name in OWN:
            object.__setattr__(self, name, value)
            return
        shift = position(self._lineage, name)
        if shift is not None and value is not None:
            value = shift(value, 1)
        setattr(self._object, name, self._session.to_lua(value))

    def __delattr__(self, name: str) -> None:
        getattr(self, name)
        setattr(self._object, name, None)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *dir(self._object)})

    # ---- as a Python object

    @property
    def typename(self) -> str:
        """The name of its Torch7 class."""
        return self._object.typename

    @property
    def lua_object(self) -> LuaObject:
        """The Lua object itself, whose methods count from 1."""
        return self._object

    def __repr__(self) -> str:
        if "_object" not in self.__dict__:
            return f"<{type(self).__name__} that is not made yet>"
        return f"<Torch7 object {self._object!r}>" if self._object.state.closed else str(self._object)

    def __str__(self) -> str:
        return repr(self)

    def __copy__(self) -> Self:
        return self.__deepcopy__({})

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        copied: Self = self._session.from_lua(self._session.ask("copy", self._object))
        memo[id(self)] = copied
        return copied

    def __reduce__(self) -> tuple[Any, ...]:
        written = [
            cls
            for cls in map(self._session.registered, self._session.ask("typenames", self._object))
            if cls is not None and not cls._native
        ]
        data = self._session.require("torch").serialize(self._object)
        return restored, (data if isinstance(data, bytes) else data.encode(), written)


def restored(data: bytes, written: list[type[LegacyObject]]) -> Any:
    """Return a pickled object, in the state in use. `written`: the classes written in Python that it needs."""
    session = current()
    for cls in written:
        cls._define(session)
    return session.from_lua(session.require("torch").deserialize(data))


# ---- classes

_made: dict[str, type[LegacyObject]] = {}
_making = threading.RLock()  # so that each class is made once


def complete(cls: type[LegacyObject], row: Row, text: str, package: str = "nn") -> None:
    """Complete a Python class by the table's row of its Lua class: names, constructor, documentation."""
    typename = f"{package}.{row.name}"

    def __init__(self: LegacyObject, *arguments: Any, **keywords: Any) -> None:
        self._construct(typename, row.form.bind(typename, arguments, keywords))

    self_parameter = inspect.Parameter("self", inspect.Parameter.POSITIONAL_ONLY)
    __init__.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [self_parameter, *row.form.signature.parameters.values()]
    )
    __init__.__doc__ = f"Make an {typename}{row.form.signature}."
    type.__setattr__(cls, "__init__", __init__)
    cls.__doc__ = text
    cls.__module__ = f"bridge.legacy.{package}"
    cls._typename = typename
    cls._lineage = (row.name, *cls._lineage)


def make_class(row: Row, base: type[LegacyObject], text: str, package: str = "nn") -> type[LegacyObject]:
    """Make the Python class for a Lua class."""
    cls: type[LegacyObject] = types.new_class(row.name, (base,), {"native": True})
    complete(cls, row, text, package)
    return cls


def describe(row: Row) -> str:
    """Return the docstring of a class: its signature, and which values count from 0."""
    lines = [f"nn.{row.name}{row.form.signature}, a module or criterion of Torch7's nn."]
    if not row.parent:
        lines = [f"nn.{row.name}{row.form.signature}, what others derive from."]
    if row.form.positions:
        lines.append("Counted from 0 here and from 1 in Lua: " + ", ".join(row.form.positions) + ".")
    note = READS.get(row.name)
    if note:
        lines.append(note)
    return "\n\n".join(lines)


# Descriptions of the indices that the classes in `readers` of bridge/runtime/legacy.lua read.
READS = {
    "LookupTable": "The input's indices count from 0.",
    "OneHot": "The input's classes count from 0.",
    "Index": "The indices in the input's second tensor count from 0.",
    "IndexLinear": "The input's keys count from 0.",
    "SparseLinear": "The input's indices count from 0; -1 pads.",
    "ClassNLLCriterion": "Targets count from 0.",
    "CrossEntropyCriterion": "Targets count from 0.",
    "SpatialClassNLLCriterion": "Targets count from 0.",
    "MultiMarginCriterion": "Targets count from 0.",
    "ClassSimplexCriterion": "Targets count from 0.",
    "MultiLabelMarginCriterion": "A row's targets count from 0 and end at the first -1.",
}


def known_class(name: str, bases: dict[str, type[LegacyObject]]) -> type[LegacyObject]:
    """Return the class of this name in the table. `bases`: classes that are written in this package."""
    if name in bases:
        return bases[name]
    with _making:
        if name not in _made:
            row = rows()[name]
            base = known_class(row.parent, bases) if row.parent else LegacyObject
            _made[name] = make_class(row, base, describe(row))
        return _made[name]
