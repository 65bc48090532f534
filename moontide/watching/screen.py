"""Where `moontide top` writes: a terminal, of which each picture takes the place of the last, or anything else."""

from __future__ import annotations

import os
import select
import shutil
import sys
import termios
import time
import tty
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

ENTER, LEAVE = "\x1b[?1049h\x1b[?25l", "\x1b[?25h\x1b[?1049l"  # a screen of its own, without a cursor
HOME, REST_OF_LINE, REST_OF_SCREEN = "\x1b[H", "\x1b[K", "\x1b[J"
QUITS = (b"q", b"Q", b"")  # the last one: there is no terminal any more
BOLD, PLAIN = "\x1b[1m", "\x1b[0m"


class Screen(Protocol):
    """What is drawn on."""

    def draw(self, title: str, lines: Sequence[str]) -> None:
        """Show a title and lines."""

    def wait(self, seconds: float) -> bool:
        """Wait; return early, and true, if the user wants to quit."""


class Paper:
    """A file or a pipe: pictures one below the other."""

    def draw(self, title: str, lines: Sequence[str]) -> None:
        """Print them with an empty line behind."""
        print(title, *lines, "", sep="\n", flush=True)

    def wait(self, seconds: float) -> bool:
        """Sleep."""
        time.sleep(seconds)
        return False


class Terminal:
    """A terminal, which `q` leaves."""

    def __init__(self, *, has_keys: bool) -> None:
        self._has_keys = has_keys

    def draw(self, title: str, lines: Sequence[str]) -> None:
        """Show as much as fits."""
        columns, rows = shutil.get_terminal_size()
        shown = [f"{BOLD}{title[:columns]}{PLAIN}", *(line[:columns] for line in lines)][:rows]
        end = f"{REST_OF_LINE}\n"
        sys.stdout.write(HOME + end.join(shown) + REST_OF_LINE + REST_OF_SCREEN)
        sys.stdout.flush()

    def wait(self, seconds: float) -> bool:
        """Wait for `q`."""
        if not self._has_keys:
            time.sleep(seconds)
            return False
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if select.select([sys.stdin], [], [], left)[0] and os.read(sys.stdin.fileno(), 64) in QUITS:
                return True
        return False


@contextmanager
def screen() -> Iterator[Screen]:
    """Take the terminal, if the standard output is one, and give it back as it was."""
    if not sys.stdout.isatty():
        yield Paper()
        return
    keys = sys.stdin.fileno() if sys.stdin.isatty() else None
    before = None if keys is None else termios.tcgetattr(keys)
    try:
        if keys is not None:
            tty.setcbreak(keys)
        sys.stdout.write(ENTER)
        yield Terminal(has_keys=keys is not None)
    finally:
        sys.stdout.write(LEAVE)
        sys.stdout.flush()
        if keys is not None and before is not None:
            termios.tcsetattr(keys, termios.TCSADRAIN, before)
