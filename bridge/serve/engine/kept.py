"""A file as it was when it was opened: what has been loaded once can be loaded again, whatever lies there by then.

The descriptor keeps the content of a file that is replaced or removed, as long as nobody writes into it in place.
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
        It is opened now; `OSError` where it cannot be.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._descriptor: int | None = os.open(file, os.O_RDONLY)
        self._place: tempfile.TemporaryDirectory[str] | None = None

    def path(self) -> Path:
        """Return where the content is: the file itself, as long as it is the same, or a link that has its name.

        Beside the link are links to all that is beside the file, for programs that look there.
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
        """Let go of the content."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
        if self._place is not None:
            self._place.cleanup()
            self._place = None


def same(file: Path, descriptor: int) -> bool:
    """Whether a path still leads to what was opened."""
    try:
        return os.path.samestat(file.stat(), os.fstat(descriptor))
    except OSError:
        return False
