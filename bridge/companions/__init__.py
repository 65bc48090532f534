"""What Lua packages ask of Python, where C has no such thing: pictures, plots, devices, HDF5, a display server.

`COMPANIONS` is the index. A companion is loaded when Lua calls it first, by `native.python('package.function', ...)`.
`threads.py` is none of them: it works without torch, and `bridge.boot` hands its functions to Lua.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable
from typing import Any

# The Lua package that calls, and the module here whose functions it calls.
COMPANIONS = {
    "cutorch": "devices",
    "display": "display",
    "graphicsmagick": "graphicsmagick",
    "hdf5": "hdf5",
    "image": "images",  # with png.py and jpeg.py
    "optim": "curves",
}


def find(name: str) -> Callable[..., Any] | None:
    """Return the function "package.function" of a companion; None when no such package has one."""
    package, _, function = name.partition(".")
    if package not in COMPANIONS:
        return None
    found: Callable[..., Any] = getattr(
        importlib.import_module(f"{__name__}.{COMPANIONS[package]}"), function
    )
    return found


def finish() -> None:
    """Do what was put off: draw the last curves of programs that plot often."""
    curves = sys.modules.get(f"{__name__}.curves")
    if curves is not None:
        curves.flush()
