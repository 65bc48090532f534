"""Python functions for Lua packages that need more than C and Lua offer: pictures, plots, devices, HDF5, displays.

A companion is a module here that serves one Lua package; `COMPANIONS` lists them. It is loaded when Lua first calls one
of its functions, by `native.python('package.function', ...)`. `threads.py` is not a companion: `bridge.boot` passes its
functions to every Lua state.
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
    """Return a companion's function by the name "package.function"; None if the package has no companion."""
    package, _, function = name.partition(".")
    if package not in COMPANIONS:
        return None
    found: Callable[..., Any] = getattr(
        importlib.import_module(f"{__name__}.{COMPANIONS[package]}"), function
    )
    return found


def finish() -> None:
    """Finish what companions have postponed: draw the last curves of programs that plot often."""
    curves = sys.modules.get(f"{__name__}.curves")
    if curves is not None:
        curves.flush()
