"""The options of a new Lua state: where its files are, its native headers, and the Python functions that it calls."""

from __future__ import annotations

import ctypes
import os
import re
import sys
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import lupa
import lupa.luajit21

from bridge import _boundary, companions, torch_support
from bridge.boundary.marks import null
from bridge.companions import threads

PACKAGE = Path(__file__).resolve().parent
BOOT = PACKAGE / "runtime" / "boot.lua"


def torch7_prefix(prefix: str | os.PathLike[str]) -> Path:
    """Return the prefix of a real Torch7 installation, or raise FileNotFoundError."""
    path = Path(prefix)
    if not (path / "share" / "lua" / "5.1" / "torch").is_dir():
        raise FileNotFoundError(f"{path} holds no Torch7: there is no {path}/share/lua/5.1/torch")
    return path


def share_lua_symbols() -> None:
    """Make the Lua API visible to the C modules of a real Torch7.

    lupa's default Lua has functions with the same names. It is started first, so that it is already bound to its own.
    """
    lupa.LuaRuntime()
    ctypes.CDLL(lupa.luajit21.__file__, mode=ctypes.RTLD_GLOBAL)


def _libraries(torch7: Path) -> str:
    return f"{torch7}/lib/lua/5.1/?.so;{torch7}/lib/?.so"


def _templates(directory: Path | str) -> list[str]:
    return [f"{directory}/?.lua", f"{directory}/?/init.lua"]


def options(
    path: Sequence[str | os.PathLike[str]],
    torch7: Path | None,
    allow_functions: bool,
    interruptible: bool,
    new_state: Callable[..., Any],
) -> dict[str, Any]:
    """Return the options for `boot.lua`.

    `new_state(allow_functions=...)` makes a state for a thread that Lua starts. The other parameters are those of
    `bridge.lua.Lua`.
    """
    directories: list[Path | str] = [os.fspath(directory) for directory in path]
    directories.append(PACKAGE / "torch7" if torch7 is None else torch7 / "share" / "lua" / "5.1")
    return {
        "path": ";".join(template for directory in directories for template in _templates(directory)),
        "cpath": "" if torch7 is None else f"{_libraries(torch7)};",
        "library": _boundary.__file__,
        "headers": _declarations(),
        "root": str(PACKAGE),
        "scope": [f"{PACKAGE / 'runtime'}/", f"{PACKAGE / 'torch7'}/"],
        "python_package": _boundary.own_function(_python_package),
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
        "start_thread": _boundary.own_function(partial(threads.start, new_state)),
        "join_thread": _boundary.own_function(threads.join),
        "heed_signals": threads.heed_signals if interruptible else None,
    }


def _export_paths(torch7: Path, _threads: Any) -> None:
    """Set LUA_PATH and LUA_CPATH, by which the threads of a real Torch7 find its packages."""
    for variable, templates in (
        ("LUA_PATH", ";".join(_templates(torch7 / "share" / "lua" / "5.1"))),
        ("LUA_CPATH", _libraries(torch7)),
    ):
        before = os.environ.get(variable, ";;")
        if templates not in before:
            os.environ[variable] = f"{templates};{before}"


@cache
def source() -> str:
    """Return the text of `boot.lua`."""
    return BOOT.read_text()


@cache
def _declarations() -> list[str]:
    """Return the parts of the native headers that LuaJIT's FFI reads, layout.h first."""
    headers = sorted(
        (PACKAGE / "core").rglob("*.h"), key=lambda header: (header.name != "layout.h", header.name)
    )
    found = (
        re.search(r"BRIDGE_CDEF begin \*/(.*?)/\* BRIDGE_CDEF end", h.read_text(), re.DOTALL) for h in headers
    )
    return [match.group(1) for match in found if match]


# ---- functions that Lua calls


def _python_package(name: str) -> list[str]:
    """Return the directories of a Python package, which may have Lua files too; an empty list if there is none."""
    try:
        spec = find_spec(name)
    except ValueError:  # a module without a file, such as __main__
        return []
    return list(spec.submodule_search_locations or ()) if spec else []


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
    """Print an error in a finalizer, which no caller can catch. SystemExit and KeyboardInterrupt are raised later."""
    if not isinstance(error, BaseException) or isinstance(error, Exception):
        sys.stderr.write(f"error in a Lua finalizer: {error}\n")


def _exit(code: int) -> None:
    raise SystemExit(code)


def _torch_lacks(name: str) -> None:
    import torch

    raise torch_support.without(torch, name)


def _torch_operator(name: str, *arguments: Any) -> Any:
    """Call a function of Python's torch, or of a companion, by its dotted name: for kernels without a C function."""
    import torch

    companion = companions.find(name)
    if companion is not None:
        return companion(*arguments)
    function: Any = torch
    for part in name.split("."):
        function = getattr(function, part)
    with torch.no_grad():
        return function(*arguments)
