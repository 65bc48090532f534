"""Keeping a file's content, so that a model can be loaded again after its file was replaced or removed.

An open descriptor keeps the content, unless another program writes into the file itself.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


class Kept:
    """A file's content.

    Parameters
    ----------
    file : path
        It is opened at once; raises OSError if that is not possible.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._descriptor: int | None = os.open(file, os.O_RDONLY)
        self._place: tempfile.TemporaryDirectory[str] | None = None

    def path(self) -> Path:
        """Return a path to the content: the file's own while it is still the same file, else a link of the same name.

        Beside the link are links to all files beside the original, for programs that look there.
        """
        if self._descriptor is None or same(self._file, self._descriptor):
            return self._file
        if self._place is None:
            self._place = tempfile.TemporaryDirectory(prefix="moontide-")
            for other in self._file.absolute().parent.iterdir():
                if other.name != self._file.name:
                    Path(self._place.name, other.name).symlink_to(other)
            held = f"/proc/{os.getpid()}/fd/{self._descriptor}"
            Path(self._place.name, self._file.name).symlink_to(held)
        return Path(self._place.name, self._file.name)

    def close(self) -> None:
        """Close the file."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        if self._place is not None:
            self._place.cleanup()
            self._place = None


def same(file: Path, descriptor: int) -> bool:
    """Whether a path still leads to the file that was opened."""
    try:
        return os.path.samestat(file.stat(), os.fstat(descriptor))
    except OSError:
        return False
