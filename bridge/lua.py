"""`Lua`: one LuaJIT state, with a Torch7-compatible runtime, inside Python."""

from __future__ import annotations

import ctypes
import difflib
import importlib
import inspect
import os
import re
import sys
from collections.abc import Sequence
from functools import cache, partial
from pathlib import Path
from types import TracebackType
from typing import Any, Literal

import lupa
import lupa.luajit21

from bridge import _boundary, threads, torch_support
from bridge._boundary import LuaFunction, LuaTable
from bridge.marks import null

PACKAGE = Path(__file__).resolve().parent
BOOT = PACKAGE / "lua" / "boot.lua"
Source = str | os.PathLike[str]
# Modules whose functions Lua calls by `native.python`, under the name of the package that needs them.
COMPANIONS = {
    "cutorch": "bridge.devices",
    "display": "bridge.display",
    "graphicsmagick": "bridge.graphicsmagick",
    "hdf5": "bridge.hdf5",
    "image": "bridge.images",
    "optim": "bridge.curves",
}


class Lua:
    """A LuaJIT 2.1 state that knows Torch7.

    Globals are attributes: `lua.torch.zeros(3)`, `lua.greeting = "hello"`. A state is used by one thread at a time
    (others wait); make one per thread, or a `LuaPool`, to run in parallel. Use it as a context manager, or `close` it.

    Parameters
    ----------
    tensors : {"numpy", "torch"}
        What Lua tensors become on their way back; the memory is shared in both cases.
    tables : {"auto", "dict"}
        "auto": a table with the keys 1..n is a list, any other a dict. "dict": always a dict with Lua's own keys.
    strings : {"text", "bytes"}
        "text": strings that are UTF-8 come back as str, others as bytes. "bytes": all come back as bytes, keys of
        tables too, so that a type does not depend on the content.
    copy : bool
        Whether tensors in the results of calls come in memory of their own. Without it they come over Lua's own memory,
        which costs nothing, and which the module that made them fills anew: `[net.forward(x) for x in xs]` is n times
        the last output. A single call says `net.forward(x, copy=True)` (or False). Fields, such as `net.weight`, are
        Lua's memory in any case.
    torch7 : path, optional
        The prefix of a real Torch7 installation to use in place of the runtime that comes with this package.
    busy_timeout : float
        Seconds to wait while another thread uses the state; then `StateBusy`.
    interruptible : bool
        Let Ctrl-C stop Lua loops that run in the main thread. Takes the process's SIGPROF timer.
    path : sequence of str
        Directories put first on Lua's path.
    allow_functions : bool
        Let functions that `torch.load` finds in a file run. They are code of whoever wrote the file, and native code
        at that; without this they load as functions that raise when called. Loading itself never runs code.

    Raises
    ------
    LuaError
        From any call: an error in Lua, with Lua's traceback.
    """

    _state: _boundary.State

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
        prefix = None if torch7 is None else _torch7_prefix(torch7)
        if prefix is not None:
            _share_lua_symbols()
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
        options = _boot_options(path, prefix, allow_functions, interruptible)
        state.boot(_boot_source(), f"@{BOOT}", (options,))

    # ---- running code

    def execute(
        self, code: str | bytes, *arguments: Any, name: str = "=(python)", copy: bool | None = None
    ) -> Any:
        """Run a chunk of Lua with `...` as given; None, its value, or a tuple of its values."""
        copies = self._state.copying if copy is None else copy
        return self._state.helper("execute", _source(code), name, *arguments, copies=copies)

    def eval(self, expression: str | bytes, *arguments: Any, copy: bool | None = None) -> Any:
        """Return the value of a Lua expression (several: a tuple), which may use `...`."""
        source = _source(expression)
        source = f"return {source}" if isinstance(source, str) else b"return " + source
        return self.execute(source, *arguments, copy=copy)

    def compile(self, code: str | bytes, name: str = "=(python)") -> LuaFunction:
        """Compile a chunk to a function that is not yet run."""
        function: LuaFunction = self._state.helper("load", _source(code), name)
        return function

    def load(self, file: Source, *arguments: Any) -> LuaFile:
        """Run a Lua file; the globals that it defines, or the table that it returns, as attributes.

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
        """Lua's `require`; a table comes back by reference."""
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
            raise AttributeError(f"there is no Lua global {name!r}")
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

    # ---- life

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._state.closed

    def exclusive(self) -> _boundary.State:
        """Keep other threads out for several calls: `with lua.exclusive(): ...`.

        Raises
        ------
        StateBusy
            On entering, when another thread uses the state for longer than `busy_timeout`.
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


def finish() -> None:
    """Do what was put off: draw the last curves of programs that plot often."""
    curves = sys.modules.get("bridge.curves")
    if curves is not None:
        curves.flush()


class LuaFile:
    """What a Lua file defined: made by `Lua.load`."""

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
# What `lua.name` means in Python, whatever globals Lua has.
NAMES = OPTIONS | {name for name in vars(Lua) if not name.startswith("_")}


def _meant(name: str) -> str | None:
    """Return the option or method that a name is, or is most likely a slip of; None for any other name."""
    if name in NAMES:
        return name
    long = [one for one in NAMES if "_" in one]  # short words are too near to those of programs
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


def _torch7_prefix(prefix: Source) -> Path:
    path = Path(prefix)
    if not (path / "share" / "lua" / "5.1" / "torch").is_dir():
        raise FileNotFoundError(f"{path} holds no Torch7: there is no {path}/share/lua/5.1/torch")
    return path


def _share_lua_symbols() -> None:
    """Let a real Torch7's C modules find the Lua API.

    lupa's default Lua is started first: its module has the same symbols, and must have bound its own by then.
    """
    lupa.LuaRuntime()
    ctypes.CDLL(lupa.luajit21.__file__, mode=ctypes.RTLD_GLOBAL)


def _libraries(torch7: Path) -> str:
    return f"{torch7}/lib/lua/5.1/?.so;{torch7}/lib/?.so"


def _templates(directory: Path | str) -> list[str]:
    return [f"{directory}/?.lua", f"{directory}/?/init.lua"]


def _boot_options(
    path: Sequence[Source], torch7: Path | None, allow_functions: bool, interruptible: bool
) -> dict[str, Any]:
    directories: list[Path | str] = [os.fspath(directory) for directory in path]
    directories.append(PACKAGE / "torch7" if torch7 is None else torch7 / "share" / "lua" / "5.1")
    directories.append(PACKAGE.parent)
    return {
        "path": ";".join(template for directory in directories for template in _templates(directory)),
        "cpath": "" if torch7 is None else f"{_libraries(torch7)};",
        "library": _boundary.__file__,
        "headers": _declarations(),
        "root": str(PACKAGE),
        "scope": [f"{PACKAGE / 'lua'}/", f"{PACKAGE / 'torch7'}/", f"{PACKAGE.parent / 'luaps'}/"],
        "foreign": torch7 is not None,
        "export_paths": None if torch7 is None else partial(_export_paths, torch7),
        "allow_functions": bool(allow_functions),
        "null": null,
        "text": str,
        "write": _boundary.own_function(_write),
        "flush": _boundary.own_function(_flush),
        "exit": _exit,
        "finalizer_failed": _finalizer_failed,
        "load_torch": _boundary.load_torch,
        "torch_library": torch_support.library(),
        "torch_lacks": _boundary.own_function(_torch_lacks),
        "python": _boundary.torch_function(_torch_operator),
        "start_thread": _boundary.own_function(threads.start),
        "join_thread": _boundary.own_function(threads.join),
        "heed_signals": threads.heed_signals if interruptible else None,
    }


def _export_paths(torch7: Path, _threads: Any) -> None:
    """Let states that a real Torch7's threads make find its packages: they know the environment alone."""
    for variable, templates in (
        ("LUA_PATH", ";".join(_templates(torch7 / "share" / "lua" / "5.1"))),
        ("LUA_CPATH", _libraries(torch7)),
    ):
        before = os.environ.get(variable, ";;")
        if templates not in before:
            os.environ[variable] = f"{templates};{before}"


@cache
def _boot_source() -> str:
    return BOOT.read_text()


@cache
def _declarations() -> list[str]:
    """Return the parts of the native headers that LuaJIT's FFI reads, tensor.h first."""
    headers = sorted(
        (PACKAGE / "core").glob("*.h"), key=lambda header: (header.name != "tensor.h", header.name)
    )
    found = (
        re.search(r"BRIDGE_CDEF begin \*/(.*?)/\* BRIDGE_CDEF end", h.read_text(), re.DOTALL) for h in headers
    )
    return [match.group(1) for match in found if match]


# ---- what Lua calls


def _write(stream: str, text: str | bytes) -> None:
    out = sys.stdout if stream == "stdout" else sys.stderr
    if isinstance(text, bytes):
        if hasattr(out, "buffer"):
            out.flush()
            out.buffer.write(text)
            return
        text = text.decode(errors="backslashreplace")
    out.write(text)


def _flush(stream: str) -> None:
    (sys.stdout if stream == "stdout" else sys.stderr).flush()


def _finalizer_failed(error: Any) -> None:
    """Say what a finalizer raised, which nobody can catch; an exception that ends the program goes on by itself."""
    if not isinstance(error, BaseException) or isinstance(error, Exception):
        sys.stderr.write(f"error in a Lua finalizer: {error}\n")


def _exit(code: int) -> None:
    raise SystemExit(code)


def _torch_lacks(name: str) -> None:
    import torch

    raise torch_support.without(torch, name)


def _torch_operator(name: str, *arguments: Any) -> Any:
    """Tier 3 of the kernels: a function of Python's torch, or of a companion, named by its dotted path."""
    import torch

    first, _, rest = name.partition(".")
    if first in COMPANIONS:
        return getattr(importlib.import_module(COMPANIONS[first]), rest)(*arguments)
    function: Any = torch
    for part in name.split("."):
        function = getattr(function, part)
    with torch.no_grad():
        return function(*arguments)
