"""What a command is doing, in one line of a terminal that is gone when it has ended; elsewhere nothing is written."""

from __future__ import annotations

import shutil
import sys
from types import TracebackType

CLEAR = "\r\x1b[K"


class Progress:
    """A line on the standard error, if that is a terminal."""

    def __init__(self) -> None:
        self._stream = sys.stderr
        self._shown = sys.stderr.isatty()

    def __enter__(self) -> Progress:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.tell("")

    def tell(self, text: str) -> None:
        """Show what is being done now."""
        if self._shown:
            width = shutil.get_terminal_size().columns - 1
            self._stream.write(f"{CLEAR}{text[:width]}")
            self._stream.flush()
