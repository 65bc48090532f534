"""`Lua`: one LuaJIT state, with a Torch7-compatible runtime, inside Python."""

from __future__ import annotations

import difflib
import inspect
import os
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import lupa.luajit21

from bridge import _boundary, boot
from bridge._boundary import LuaFunction, LuaTable
from bridge.companions import finish
from bridge.familiar import LUTORPY, pointer

Source = str | os.PathLike[str]


class Lua:
    """A LuaJIT 2.1 state with a Torch7-compatible runtime.

    Lua's globals are attributes: `lua.torch.zeros(3)`, `lua.greeting = "hello"`. One thread at a time uses a state, and
    others wait; to run in parallel, make a state per thread or a `LuaPool`. Use it as a context manager, or `close` it.

    Parameters
    ----------
    tensors : {"numpy", "torch"}
        Whether Lua tensors are returned as arrays or as torch tensors; both share Lua's memory.
    tables : {"auto", "dict"}
        "auto": a table with exactly the keys 1..n is returned as a list, any other as a dict. "dict": every table is
        returned as a dict with its keys in Lua.
    strings : {"text", "bytes"}
        "text": strings that are UTF-8 are returned as str, others as bytes. "bytes": all strings, also keys of tables,
        are returned as bytes, so that the type does not depend on the contents.
    copy : bool
        Whether calls return copies of tensors. By default the results share Lua's memory, which costs nothing, but a
        module overwrites its output at the next call: all elements of `[net.forward(x) for x in xs]` are the last
        output. A single call can say `net.forward(x, copy=True)` or False. Fields, such as `net.weight`, always share
        Lua's memory.
    torch7 : path, optional
        The prefix of a real Torch7 installation to use in place of the runtime that comes with this package.
    busy_timeout : float
        Seconds to wait while another thread uses the state; then `StateBusy`.
    interruptible : bool
        Let Ctrl-C stop Lua loops that run in the main thread. Uses the process's SIGPROF timer.
    path : sequence of str
        Directories to put first on Lua's path. `require` also looks where Python finds packages.
    allow_functions : bool
        Let functions that `torch.load` finds in a file run. They are code of the file's author and can do anything.
        Without this option they are loaded as functions that raise when called. Loading itself never runs code.

    Raises
    ------
    LuaError
        From any call: an error in Lua, with Lua's traceback.
    """

    _state: _boundary.State

    @LUTORPY.pointing
    def __init__(
        self,
        *,
        tensors: Literal["numpy", "torch"] = "numpy",
        tables: Literal["auto", "dict"] = "auto",
        strings: Literal["text", "bytes"] = "text",
        copy: bool = False,
        torch7: Source | None = None,
        busy_timeout: float = 60.0,
        interruptible: bool = True,
        path: Sequence[Source] = (),
        allow_functions: bool = False,
    ) -> None:
        for option, value, choices in (
            ("tensors", tensors, ("numpy", "torch")),
            ("tables", tables, ("auto", "dict")),
            ("strings", strings, ("text", "bytes")),
        ):
            if value not in choices:
                raise ValueError(f'{option}= is "{choices[0]}" or "{choices[1]}", got {value!r}')
        if not busy_timeout > 0:
            raise ValueError(f"busy_timeout= is a number of seconds above 0, got {busy_timeout!r}")
        prefix = None if torch7 is None else boot.torch7_prefix(torch7)
        if prefix is not None:
            boot.share_lua_symbols()
        state = _boundary.State(
            lupa.luajit21.__file__,
            as_torch=tensors == "torch",
            always_dict=tables == "dict",
            busy_timeout=busy_timeout,
            interruptible=interruptible,
            foreign=torch7 is not None,
            as_bytes=strings == "bytes",
            copying=copy,
        )
        self.__dict__["_state"] = state
        new_state = partial(Lua, interruptible=False)
        options = boot.options(path, prefix, allow_functions, interruptible, new_state)
        state.boot(boot.source(), f"@{boot.BOOT}", (options,))

    # ---- running code

    def execute(
        self, code: str | bytes, *arguments: Any, name: str = "=(python)", copy: bool | None = None
    ) -> Any:
        """Run Lua code with the arguments as `...`. Returns None, its value, or a tuple of several values."""
        copies = self._state.copying if copy is None else copy
        return self._state.helper("execute", _source(code), name, *arguments, copies=copies)

    def eval(self, expression: str | bytes, *arguments: Any, copy: bool | None = None) -> Any:
        """Return the value of a Lua expression, or a tuple of several values. In it, `...` are the arguments."""
        source = _source(expression)
        source = f"return {source}" if isinstance(source, str) else b"return " + source
        return self.execute(source, *arguments, copy=copy)

    def compile(self, code: str | bytes, name: str = "=(python)") -> LuaFunction:
        """Compile Lua code to a function, without running it."""
        function: LuaFunction = self._state.helper("load", _source(code), name)
        return function

    def load(self, file: Source, *arguments: Any) -> LuaFile:
        """Run a Lua file. Returns an object whose attributes are the globals it defines, or the table it returns.

        Raises
        ------
        FileNotFoundError
            There is no such file.
        LuaError
            It has a syntax error, or running it raised an error.
        """
        path = _existing(file)
        names, returned = self._state.helper("run_file", path, *arguments, proxies=True)
        with self._state.texts():
            return LuaFile(self, path, [names[i] for i in range(1, len(names) + 1)], returned)

    def require(self, name: str) -> Any:
        """Call Lua's `require`. Returns a table by reference."""
        return self._state.helper("require", name, proxies=True)

    # ---- globals

    @property
    def globals(self) -> LuaTable:
        """The table of globals, by reference."""
        table: LuaTable = self._state.helper("globals", proxies=True)
        return table

    def global_functions(self) -> list[str]:
        """Return the names of all global functions, sorted."""
        names: LuaTable = self._state.helper("global_functions", proxies=True)
        with self._state.texts():
            return sorted(names[i] for i in range(1, len(names) + 1))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = self._state.helper("global", name, proxies=True)
        if value is None and name in ("torch", "nn"):
            value = self.require(name)
        if value is None:
            raise AttributeError(f"there is no Lua global {name!r}{pointer(name, LUTORPY)}")
        return value

    def __setattr__(self, name: str, value: Any) -> None:
        meant = _meant(name)
        if meant is not None and self._state.helper("global", name, proxies=True) is None:
            asked = f"; did you mean {meant}?" if meant != name else ":"
            how = f"pass it as bridge.Lua({meant}=...)" if meant in OPTIONS else "it cannot be set"
            raise AttributeError(
                f"bridge.Lua has no attribute {name!r} to set{asked} {how}; "
                f'a global of Lua with this name is set by lua.globals["{name}"] = ...'
            )
        self._state.helper("set_global", name, value)

    def __dir__(self) -> list[str]:
        with self._state.texts():
            return sorted({*object.__dir__(self), *(key for key in self.globals if isinstance(key, str))})

    # ---- sharing and closing

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._state.closed

    def exclusive(self) -> _boundary.State:
        """Keep other threads out during several calls: `with lua.exclusive(): ...`.

        Raises
        ------
        StateBusy
            On entering: another thread has used the state for longer than `busy_timeout`.
        """
        return self._state

    @property
    def held_bytes(self) -> int:
        """Bytes of tensor memory that this state keeps alive."""
        return self._state.held_bytes

    def collect(self) -> None:
        """Run a full cycle of Lua's garbage collector."""
        self._state.helper("collect")

    def close(self) -> None:
        """Close the state. Arrays that share its memory stay valid; functions, tables and objects do not."""
        self._state.close()
        finish()

    def __enter__(self) -> Lua:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<bridge.Lua{' (closed)' if self._state.closed else ''}>"


class LuaFile:
    """The globals that a Lua file has defined, or the table that it has returned. Made by `Lua.load`."""

    def __init__(self, lua: Lua, path: str, names: list[str], returned: Any) -> None:
        self._lua = lua
        self._path = path
        self._names = names
        self._returned = returned

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if isinstance(self._returned, LuaTable) and name in self._returned:
            return self._returned[name]
        try:
            return getattr(self._lua, name)
        except AttributeError:
            raise AttributeError(
                f"{self._path} defines no {name!r}; it defines {', '.join(self._names)}"
            ) from None

    def __dir__(self) -> list[str]:
        returned = self._returned.keys() if isinstance(self._returned, LuaTable) else []
        return sorted({*self._names, *(name for name in returned if isinstance(name, str))})

    def __repr__(self) -> str:
        return f"<Lua file {self._path!r}>"


OPTIONS = frozenset(inspect.signature(Lua.__init__).parameters) - {"self"}
# Names that as `lua.name` belong to Python, whatever globals Lua has.
NAMES = OPTIONS | {name for name in vars(Lua) if not name.startswith("_")}


def _meant(name: str) -> str | None:
    """Return the option or method that a name is, or is likely a misspelling of; None for any other name."""
    if name in NAMES:
        return name
    long = [one for one in NAMES if "_" in one]  # short words are too similar to names that programs use
    return next(iter(difflib.get_close_matches(name, long, 1, 0.85)), None)


def _existing(file: Source) -> str:
    path = os.fspath(file)
    if not Path(path).is_file():
        raise FileNotFoundError(f"there is no Lua file {path!r} (looked from {Path.cwd()})")
    return path


def _source(code: str | bytes) -> str | bytes:
    if not isinstance(code, str | bytes):
        raise TypeError(f"Lua code is a str or bytes, got {type(code).__name__}")
    return code
