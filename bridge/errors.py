"""What goes wrong at the border, as Python exceptions."""

from __future__ import annotations

from typing import Any


class LuaError(Exception):
    """An error raised in Lua.

    Attributes
    ----------
    message : str
        Lua's message; for an error with a table, its `message` or its text.
    traceback : str
        Lua's traceback at the place of the error.
    value : object
        What was given to Lua's `error`, converted.
    original : BaseException or None
        The exception of the Python callback that the error came from; also the `__cause__`.
    """

    def __init__(
        self, message: str, traceback: str = "", value: Any = None, original: BaseException | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.traceback = traceback
        self.value = value
        self.original = original

    def __str__(self) -> str:
        return f"{self.message}\n{self.traceback}" if self.traceback else self.message


class StateClosed(RuntimeError):
    """A Lua state, or a value of one, was used after `close()`."""


class StateBusy(TimeoutError):
    """A Lua state was in use by another thread for longer than its `busy_timeout`."""
