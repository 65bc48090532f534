"""`LuaPool`: several Lua states behind one object, for many callers in many threads."""

from __future__ import annotations

import queue
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

from bridge.errors import StateBusy, StateClosed
from bridge.lua import Lua

T = TypeVar("T")


class LuaPool:
    """A fixed number of Lua states, each lent to one caller at a time.

    Parameters
    ----------
    size : int
        How many states; they run in parallel, because Lua runs without the GIL.
    prepare : callable, optional
        Called with each new state (load the model here); what it returns is lent together with the state.
    timeout : float
        Seconds to wait for a free state; then `StateBusy`.
    **options
        As for `Lua`.

    Examples
    --------
    >>> with LuaPool(2, lambda lua: lua.eval("function(x) return x + 1 end")) as pool:
    ...     pool.run(lambda add_one: add_one(1))
    2
    """

    def __init__(
        self, size: int, prepare: Callable[[Lua], Any] | None = None, *, timeout: float = 60.0, **options: Any
    ) -> None:
        if size < 1:
            raise ValueError(f"size= is at least 1, got {size!r}")
        self.size = size
        self._timeout = timeout
        self._free: queue.SimpleQueue[tuple[Lua, Any]] = queue.SimpleQueue()
        self._states: list[Lua] = []
        self._closed = False
        try:
            for _ in range(size):
                lua = Lua(**options)
                self._states.append(lua)
                self._free.put((lua, lua if prepare is None else prepare(lua)))
        except BaseException:
            self.close()
            raise

    @contextmanager
    def lend(self) -> Iterator[Any]:
        """Lend what `prepare` made of a state (the state itself without `prepare`) for a `with` block."""
        if self._closed:
            raise StateClosed("this pool is closed")
        try:
            entry = self._free.get(timeout=self._timeout)
        except queue.Empty:
            raise StateBusy(
                f"all {self.size} Lua states of the pool were busy for {self._timeout:g} s; "
                "use a larger size= or timeout="
            ) from None
        try:
            yield entry[1]
        finally:
            self._free.put(entry)

    def run(self, function: Callable[[Any], T]) -> T:
        """Call `function` with what is lent, and return its result."""
        with self.lend() as lent:
            return function(lent)

    def close(self) -> None:
        """Close every state; waits for those that are in use (each up to its `busy_timeout`)."""
        self._closed = True
        for lua in self._states:
            lua.close()

    def __enter__(self) -> LuaPool:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()
