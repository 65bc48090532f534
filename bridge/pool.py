"""`LuaPool`: several Lua states that callers in many threads or tasks borrow."""

from __future__ import annotations

import asyncio
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, TypeVar

from bridge.errors import StateBusy, StateClosed
from bridge.lua import Lua
from bridge.own import own

T = TypeVar("T")


@dataclass(eq=False)
class Entry:
    """A state of the pool, the value that is lent with it, and the thread that has it (0: none, or a waiting task)."""

    lua: Lua
    value: Any
    borrower: int = 0


class LuaPool:
    """A fixed number of Lua states, each lent to one caller at a time.

    Parameters
    ----------
    size : int
        Number of states; they run in parallel, because Lua runs without the GIL.
    prepare : callable, optional
        Called with each new state, for example to load a model; its result is the value that callers get.
    timeout : float
        Seconds to wait for a free state, and for borrowers when the pool is closed; then `StateBusy` is raised.
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
        self._free: list[Entry] = []
        self._lent: set[Entry] = set()
        self._lost = 0  # states that other threads had when this process was forked
        self._waiting: deque[Future[Entry]] = deque()
        self._changed = threading.Condition()  # guards all of the above
        self._process = os.getpid()
        self._closed = False
        self._threads: ThreadPoolExecutor | None = None  # for tasks
        try:
            for _ in range(size):
                lua = Lua(**options)
                self._free.append(Entry(lua, lua))
                if prepare is not None:
                    self._free[-1].value = prepare(lua)
        except BaseException:
            self.close()
            raise

    # ---- borrowing

    @contextmanager
    def lend(self) -> Iterator[Any]:
        """Lend a state's value of `prepare`, or the state itself without `prepare`, for a `with` block.

        Arrays from Lua share its memory, as always: to use one after the block, copy it within the block.
        """
        entry = self._take()
        try:
            yield entry.value
        finally:
            self._give(entry)

    def run(self, function: Callable[[Any], T]) -> T:
        """Call `function` with a state's value, and return its result without memory of the state.

        While it runs, Lua functions return copies of arrays and tensors (unless called with `copy=False`). Arrays in
        its result that share Lua's memory, such as fields, are copied too; see `own` for where they are looked for.

        Raises
        ------
        StateBusy
            No state came free within the pool's `timeout`.
        StateClosed
            The pool is closed.
        """
        entry = self._take()
        try:
            return _call(entry, function)
        finally:
            self._give(entry)

    async def arun(self, function: Callable[[Any], T]) -> T:
        """Do as `run` for asyncio tasks: the function runs in a thread of the pool while the event loop goes on.

        There are as many threads as states; a task that waits for a state uses none. A task that is cancelled while its
        function runs ends at once, and the state becomes free when the function has returned.

        Raises
        ------
        StateBusy, StateClosed
            As `run`.
        """
        asked = self._ask()
        try:
            async with asyncio.timeout(self._timeout):
                entry = await asyncio.wrap_future(asked)
        except BaseException as error:
            self._withdraw(asked)
            if isinstance(error, TimeoutError) and not isinstance(error, StateBusy):
                raise self._busy() from None
            raise
        try:
            running = self._executor().submit(self._run_lent, entry, function)
        except BaseException:
            self._give(entry)
            raise
        running.add_done_callback(lambda done: self._give(entry) if done.cancelled() else None)
        return await asyncio.wrap_future(running)

    def _run_lent(self, entry: Entry, function: Callable[[Any], T]) -> T:
        entry.borrower = threading.get_ident()
        try:
            return _call(entry, function)
        finally:
            self._give(entry)

    def _executor(self) -> ThreadPoolExecutor:
        with self._changed:
            if self._threads is None:
                self._threads = ThreadPoolExecutor(self.size, thread_name_prefix="bridge.LuaPool")
            return self._threads

    # ---- taking states and giving them back

    def _take(self) -> Entry:
        me = threading.get_ident()
        with self._locked():
            if len(self._lent) == self.size - self._lost and all(e.borrower == me for e in self._lent):
                raise StateBusy(
                    f"this thread has all {self.size} Lua states of the pool itself{self._said_lost()}; "
                    "use a larger size="
                )
        asked = self._ask()
        try:
            entry = asked.result(self._timeout)
        except TimeoutError:
            self._withdraw(asked)
            raise self._busy() from None
        except BaseException:
            self._withdraw(asked)
            raise
        entry.borrower = me
        return entry

    def _ask(self) -> Future[Entry]:
        """Ask for a state. Returns a future for it; waiting callers are served in order."""
        asked: Future[Entry] = Future()
        with self._locked():
            if self._closed:
                raise StateClosed("this pool is closed")
            if self._lost == self.size:
                raise StateBusy(
                    f"the pool has no Lua state in this process{self._said_lost()}; make it after the fork"
                )
            if self._free:
                entry = self._free.pop()
                self._lent.add(entry)
                asked.set_result(entry)
            else:
                self._waiting.append(asked)
        return asked

    def _withdraw(self, asked: Future[Entry]) -> None:
        """Give up waiting; a state that the future has got already is given back."""
        if not asked.cancel() and asked.exception() is None:
            self._give(asked.result())

    def _give(self, entry: Entry) -> None:
        """Give a state to the caller that has waited longest, or to the free ones."""
        with self._locked():
            entry.borrower = 0
            while self._waiting and not self._closed:
                asked = self._waiting.popleft()
                if asked.set_running_or_notify_cancel():
                    asked.set_result(entry)
                    return
            self._lent.discard(entry)
            if not self._closed:
                self._free.append(entry)
            self._changed.notify_all()
            closed = self._closed
        if closed:
            entry.lua.close()

    def _busy(self) -> StateBusy:
        return StateBusy(
            f"all {self.size} Lua states of the pool were busy for {self._timeout:g} s{self._said_lost()}; "
            "use a larger size= or timeout="
        )

    # ---- after a fork

    def _locked(self) -> threading.Condition:
        """Return the lock. In a forked child, first forget the parent's other threads and their states."""
        if os.getpid() != self._process:
            self._process = os.getpid()
            self._changed = threading.Condition()
            self._threads = None
            self._waiting.clear()
            mine = {entry for entry in self._lent if entry.borrower == threading.get_ident()}
            self._lost += len(self._lent) - len(mine)
            self._lent = mine
        return self._changed

    def _said_lost(self) -> str:
        return f" ({self._lost} of them were lent when the process forked)" if self._lost else ""

    # ---- closing

    def close(self) -> None:
        """Close every state; a lent state is closed when it is given back.

        Raises
        ------
        StateBusy
            Some states were not given back within the pool's `timeout`; they are closed when they are. States that this
            thread itself has borrowed are not waited for.
        """
        deadline = time.monotonic() + self._timeout
        with self._locked():
            first, self._closed = not self._closed, True
            free, self._free = self._free, []
            while self._waiting:
                asked = self._waiting.popleft()
                if asked.set_running_or_notify_cancel():
                    asked.set_exception(StateClosed("this pool was closed while a caller waited for a state"))
        for entry in free:
            entry.lua.close()
        with self._locked():
            while (others := self._lent_to_others()) and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(left)
            threads, self._threads = self._threads, None
        if threads is not None:
            threads.shutdown(wait=not others)
        if first and others:
            raise StateBusy(
                f"{others} Lua states of the pool were still in use {self._timeout:g} s after it was closed; "
                "each is closed when it is given back"
            )

    def _lent_to_others(self) -> int:
        return sum(entry.borrower != threading.get_ident() for entry in self._lent)

    def __enter__(self) -> LuaPool:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()


def _call(entry: Entry, function: Callable[[Any], T]) -> T:
    """Call a function with a state whose calls return copies while it runs."""
    state = entry.lua.exclusive()
    before, state.copying = state.copying, True
    try:
        result: T = own(function(entry.value))
        return result
    finally:
        state.copying = before
