"""The interactive mode of `th`: read an entry, run it, show its values, until the input ends.

On a terminal with readline, lines can be edited, names completed and earlier entries recalled. Entries are kept in
`~/.local/state/moontide/th_history` (or below XDG_STATE_HOME), which only its owner can read.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from bridge.lua import Lua

NAME = "=(th)"  # name of our own chunks, which th leaves out of tracebacks
HISTORY = 10_000  # lines kept
WORDS = " \t\n`~!@#$%^&*()-+=[{]}\\|;'\",<>/?"  # characters that end a word; dots and colons do not

Reported = Callable[[Callable[[], None]], int]


def interact(lua: Lua, reported: Reported) -> int:
    """Run entries until the input ends or an entry is `exit`. Returns the exit status.

    `reported` runs an action and prints the error that it raises, if any.
    """
    lines = _edited(lua)
    timed = sys.stdin.isatty() and sys.stdout.isatty()
    entry = ""
    while True:
        try:
            line = input("..> " if entry else "th> ")
        except EOFError:
            sys.stdout.write("\n")
            return 0
        except KeyboardInterrupt:
            sys.stdout.write("\n")
            entry = ""
            continue
        lines.keep()
        entry = f"{entry}\n{line}" if entry else line.removeprefix("=")
        if entry.strip() in ("exit", "quit"):
            return 0
        began = time.perf_counter()
        if _unfinished(lua, entry, reported):
            continue
        if timed and entry.strip():
            sys.stdout.write(f"{'':70}[{time.perf_counter() - began:.4f}s]\t\n")
        entry = ""


def _unfinished(lua: Lua, entry: str, reported: Reported) -> bool:
    """Run an entry, unless it is incomplete. Returns whether it is."""
    more = False

    def action() -> None:
        nonlocal more
        source = entry.encode(errors="surrogateescape")  # the bytes as they were read
        more = bool(lua.execute("return require('bridge.runtime.th').entry(...)", source, name=NAME))

    reported(action)
    return more


class _Lines:
    """Lines of the input, without editing."""

    def keep(self) -> None:
        """Write the last line to the history."""


class _Edited(_Lines):
    """Lines edited by readline."""

    def __init__(self, readline: ModuleType, lua: Lua) -> None:
        self.readline = readline
        self.lua = lua
        self.found: list[str] = []
        self.length = 0
        self.file = _history_file()
        readline.set_completer(self.complete)
        readline.set_completer_delims(WORDS)
        if "libedit" in (readline.__doc__ or ""):
            readline.parse_and_bind("bind ^I rl_complete")
        else:
            readline.parse_and_bind("tab: complete")
        readline.clear_history()
        if self.file is not None:
            with contextlib.suppress(OSError):  # not readable: begin with an empty history
                readline.read_history_file(self.file)
        self.length = readline.get_current_history_length()

    def complete(self, word: str, index: int) -> str | None:
        """Return completion number `index` of a word; None after the last."""
        if index == 0:
            self.found = _completions(self.lua, word)
        return self.found[index] if index < len(self.found) else None

    def keep(self) -> None:
        length = self.readline.get_current_history_length()
        if self.file is None or length == self.length:
            return
        try:
            self.readline.set_history_length(HISTORY)
            self.readline.append_history_file(1, self.file)
        except OSError as problem:
            sys.stderr.write(f"th: the history is not kept: {problem}\n")
            self.file = None
        self.length = length


def _edited(lua: Lua) -> _Lines:
    if sys.stdin.isatty() and sys.stdout.isatty():
        with contextlib.suppress(ImportError):
            import readline

            return _Edited(readline, lua)
    return _Lines()


def _completions(lua: Lua, word: str) -> list[str]:
    source = word.encode(errors="surrogateescape")
    found = lua.execute("return require('bridge.runtime.th').complete(...)", source, name=NAME)
    return list(found) if isinstance(found, list) else []


def _history_file() -> Path | None:
    """Return the history's file, which is made if it is missing; None if it cannot be made."""
    state = os.environ.get("XDG_STATE_HOME") or ""
    try:
        directory = (Path(state) if Path(state).is_absolute() else Path.home() / ".local/state") / "moontide"
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = directory / "th_history"
        descriptor = os.open(file, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600)
        try:
            os.fchmod(descriptor, 0o600)  # an existing file may be readable by others
        finally:
            os.close(descriptor)
    except (OSError, RuntimeError):  # no home directory, or not writable
        return None
    return file
