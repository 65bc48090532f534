"""Checkpoints of a server's parameters, written while training runs.

>>> import pyps
>>> with pyps.Server(1000, 10) as server:
...     saved = pyps.checkpoint.save("checkpoints", server, keep=3)
...     assert pyps.checkpoint.load("checkpoints", server) == saved
"""

from __future__ import annotations

from pathlib import Path
from typing import overload

from pyps.checkpoint import places
from pyps.checkpoint.export import export
from pyps.checkpoint.folders import open_folder
from pyps.checkpoint.loading import load
from pyps.checkpoint.saving import save
from pyps.checkpoint.stateful import Stateful
from pyps.checkpoint.stored import Stored

__all__ = ["Stateful", "Stored", "export", "latest", "load", "save"]


@overload
def latest(directory: Path) -> Path | None: ...
@overload
def latest(directory: str) -> Path | str | None: ...
def latest(directory: str | Path) -> Path | str | None:
    """Return the newest checkpoint of a directory, a URL's as a URL; None if there is none."""
    found = places.newest(open_folder(directory))
    return None if found is None else found.path
