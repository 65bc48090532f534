"""Checkpoints of a server's parameters, written while training runs.

>>> import pyps
>>> with pyps.Server(1000, 10) as server:
...     saved = pyps.checkpoint.save("checkpoints", server, keep=3)
...     assert pyps.checkpoint.load("checkpoints", server) == saved
"""

from __future__ import annotations

from pathlib import Path

from pyps.checkpoint import places
from pyps.checkpoint.export import export
from pyps.checkpoint.loading import load
from pyps.checkpoint.saving import save
from pyps.checkpoint.stored import Stored

__all__ = ["Stored", "export", "latest", "load", "save"]


def latest(directory: str | Path) -> Path | None:
    """Return the newest checkpoint of a directory; None if there is none."""
    known = places.numbers(Path(directory))
    return places.numbered(Path(directory), known[-1]) if known else None
