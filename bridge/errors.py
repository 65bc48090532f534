"""The exceptions of the boundary between Lua and Python."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

# The text that nn's containers make of an error in a module inside: places, cause, its traceback, a warning.
CONTAINED = re.compile(
    r"\A[^\n]*\n(?P<places>(?:In \d+ module of [^\n]+:\n)+)(?P<cause>.*?)\s*"
    r"(?:\n(?P<traceback>stack traceback:\n.*?))?(?:\s*\nWARNING: If you see a stack trace below.*)?\Z",
    re.DOTALL,
)
# A message that contains a traceback of another place, such as another thread.
TRACED = re.compile(r"\A(?P<cause>.*?)\s*\n(?P<traceback>stack traceback:\n.*)\Z", re.DOTALL)
PLACE = re.compile(r"In (\d+) module of ([^\n]+):\n")
ADDRESS = re.compile(
    r"\n\s*\[C\]: at 0x[0-9a-f]+|(\b(?:table|function|userdata|thread)|cdata<[^>\n]*>|<Lua\w+(?: [\w.]+)?):? "
    r"0x[0-9a-f]{4,16}\b|(\bfile) \(0x[0-9a-f]+\)"
)
# The line of our own Lua files that raised an error does not help a caller, so the message leaves it out (the note has
# it). Lua shortens a long path to its end.
OUR_PLACE = re.compile(
    rf"\A(?:{re.escape(str(Path(__file__).resolve().parent))}"
    r"|\.\.\.(?:[^\n:]*/bridge|b?r?i?d?g?e)/(?:torch7|runtime))/[^\n:]+:\d+: "
)


class LuaError(Exception):
    """An error raised in Lua.

    The first line of `str` is the cause; then it says where in a network it happened. Lua's traceback is a note
    (`__notes__`), which Python prints below.

    Attributes
    ----------
    message : str
        The message as a Lua program sees it; for an error whose value is a table, its field `message` or its text.
    traceback : str
        Lua's traceback of the error.
    value : object
        The argument of Lua's `error`, converted.
    original : BaseException or None
        The exception of a Python callback that caused the error; also the `__cause__`.
    """

    def __init__(
        self,
        message: str,
        traceback: str = "",
        value: Any = None,
        original: BaseException | None = None,
        detail: str = "",
    ) -> None:
        super().__init__(message)
        self.message = message
        self.traceback = traceback
        self.value = value
        self.original = original
        self._noted = _noted(detail, message)
        self._base = 1
        match = CONTAINED.match(message) or TRACED.match(message)
        inner = match.group("traceback") if match is not None else None
        note = without_addresses(inner or traceback)
        if note:
            self.add_note(note)

    def __str__(self) -> str:
        match = CONTAINED.match(self.message) or TRACED.match(self.message)
        cause = self.message if match is None else match.group("cause")
        shown = OUR_PLACE.sub("", without_addresses(cause))
        if len(self._noted) == 1:
            kind = self._noted[0]
            shown = f"{shown}: it is {kind if kind == 'nil' else 'a ' + kind}"
        elif self._noted:
            # bridge.legacy does not shift numbers below 0
            value, low, high = (n if n < 0 else n - 1 + self._base for n in map(float, self._noted))
            shown = f"{shown.rstrip('. ')}: got {value:g}, where {low:g} to {high:g} exist, counted from {self._base}"
        for number, container in PLACE.findall(match.groupdict().get("places", "") if match else ""):
            place = int(number) - 1 + self._base
            shown += f"\nin module {place} of {container}, counted from {self._base}"
        return shown

    def count_from(self, base: int) -> None:
        """Let the message count positions from `base`, 0 or 1, as the caller does."""
        self._base = base


class LuaTypeError(LuaError, TypeError):
    """A module of nn was given an argument of a wrong type; the message names it and says what to pass."""

    reason = ""

    @classmethod
    def of(cls, reason: str, error: LuaError) -> LuaTypeError:
        """Return the error with `reason`, the cause that was found for another error."""
        made = cls(error.message, error.traceback, error.value)
        made.reason = reason
        made.add_note(f"Lua's own words: {error}")
        return made

    def __str__(self) -> str:
        return self.reason or super().__str__()


class StateClosed(RuntimeError):
    """A Lua state, or a value of one, was used after `close()`."""


class StateBusy(TimeoutError):
    """A Lua state was in use by another thread for longer than its `busy_timeout`."""


def without_addresses(text: str) -> str:
    """Return a text from Lua without the addresses of objects, which differ from run to run."""
    return ADDRESS.sub(lambda match: match.group(1) or match.group(2) or "", text)


def _noted(detail: str, message: str) -> list[str]:
    """Return the lines that were noted for this message: a value and its limits, or a value's type; or none."""
    noted, _, said = detail.partition(" | ")
    return noted.split() if said and said in message else []
