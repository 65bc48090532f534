"""What every benchmark uses: rows, timing of several functions in turn, the printed table, the machine.

A benchmark is a module benchmarks/<name>.py with `NAME`, its title, and `run(quick) -> list[Row]`.
"""

from __future__ import annotations

import gc
import os
import platform
import re
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

TARGET = re.compile(r"(<=|>=)\s*([\d.]+)\s*(\D*)")
COSTS = {"ns", "us", "ms", "s", "B", "cores"}  # of these less is better


@dataclass(frozen=True, kw_only=True)
class Row:
    """One measured number beside the peer's.

    Attributes
    ----------
    table : str
        The table that the row belongs to.
    what : str
        What was measured.
    ours, theirs : float
        The two results in `unit`; `theirs` is None where there is no peer.
    unit : str
        For example "ns", "us", "keys/s".
    peer : str
        What `theirs` is.
    target : str
        A bound on the ratio, such as "<= 1.3x", or on `ours` itself, such as "<= 2 ns"; empty for none.
    """

    table: str
    what: str
    ours: float
    unit: str
    peer: str = ""
    theirs: float | None = None
    target: str = ""

    def __post_init__(self) -> None:
        if not self.target:
            if self.theirs is not None and self.unit not in COSTS and not self.unit.endswith("/s"):
                raise ValueError(f"{self.unit!r}: give a target, which tells whether less or more is better")
            return
        found = TARGET.fullmatch(self.target)
        if found is None or found[3] not in ("x", self.unit):
            raise ValueError(f"target {self.target!r}: expected '<= 1.3x', '>= 1.7x' or '<= 2 {self.unit}'")
        if found[3] == "x" and self.theirs is None:
            raise ValueError(f"target {self.target!r} bounds a ratio, but the row has no peer")

    @property
    def ratio(self) -> float | None:
        """`ours / theirs`: below 1 is better where less is better, above 1 where more is."""
        return self.ours / self.theirs if self.theirs else None

    @property
    def more_is_better(self) -> bool:
        """Whether a larger number is better: as the target has it, and without one for rates only."""
        return self.target.startswith(">=") if self.target else self.unit.endswith("/s")

    @property
    def target_ratio(self) -> float | None:
        """The target as a bound on the ratio; None without a target or a peer."""
        found = TARGET.fullmatch(self.target)
        if found is None or not self.theirs:
            return None
        return float(found[2]) if found[3] == "x" else float(found[2]) / self.theirs

    @property
    def met(self) -> bool | None:
        """Whether the target was met; None where there is none."""
        found = TARGET.fullmatch(self.target)
        if found is None:
            return None
        value = self.ratio if found[3] == "x" else self.ours
        assert value is not None
        return value <= float(found[2]) if found[1] == "<=" else value >= float(found[2])


def in_threads(count: int, body: Callable[[int], object]) -> None:
    """Run ``body(number)`` in so many threads at once, until all have ended."""
    threads = [threading.Thread(target=body, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def seconds_per_call(
    *functions: Callable[[], object], quick: bool = False, rounds: int = 7, least: float = 0.02
) -> list[float]:
    """Time functions in turn and return the median time of one call of each, in seconds.

    Taking turns lets a disturbance of the machine fall on all of them alike.

    Parameters
    ----------
    *functions : callable
        Called without arguments.
    quick : bool
        One call of each, to see that a benchmark runs.
    rounds : int
        How many times each function gets its turn.
    least : float
        Seconds that one turn takes at least; the number of calls follows from it.
    """
    return seconds_of_loops(*(partial(_timed, f) for f in functions), quick=quick, rounds=rounds, least=least)


def seconds_of_loops(
    *loops: Callable[[int], float], quick: bool = False, rounds: int = 7, least: float = 0.02
) -> list[float]:
    """Do the same with loops that take how often to repeat and return how many seconds that took."""
    if quick:
        return [loop(1) for loop in loops]
    with collector_paused():
        counts = [_count_within(loop, least) for loop in loops]
        turns = [[loop(n) / n for loop, n in zip(loops, counts, strict=True)] for _ in range(rounds)]
    return [statistics.median(times) for times in zip(*turns, strict=True)]


def rates_in_turns(*measures: Callable[[float], float], quick: bool, rounds: int = 5) -> list[float]:
    """Tell functions in turn for how many seconds to work; return the median of the rates that each returned."""
    seconds = 0.05 if quick else 0.3
    turns = [[measure(seconds) for measure in measures] for _ in range(1 if quick else rounds)]
    return [statistics.median(rates) for rates in zip(*turns, strict=True)]


@contextmanager
def collector_paused() -> Iterator[None]:
    """Keep Python's garbage collector from running inside a measurement."""
    enabled = gc.isenabled()
    gc.collect()
    gc.freeze()  # what lives now, all of torch, is not looked at again by the next one
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        if enabled:
            gc.enable()


def _timed(function: Callable[[], object], calls: int) -> float:
    start = time.perf_counter()
    for _ in range(calls):
        function()
    return time.perf_counter() - start


def _count_within(loop: Callable[[int], float], least: float) -> int:
    count = 1
    loop(count)  # touches fresh memory and compiles: its time would end the search with one call
    while (taken := loop(count)) < least:
        count = max(count * 2, int(count * least / taken)) if taken > least / 100 else count * 10
    return count


def shown(value: float | None) -> str:
    """Write a number with about three figures, small ones with three decimals."""
    if value is None:
        return ""
    for bound, digits in ((0.1, 3), (10, 2), (100, 1)):
        if abs(value) < bound:
            return f"{value:.{digits}f}"
    return f"{value:,.0f}"


def print_tables(rows: Sequence[Row], console: Console | None = None) -> None:
    """Print the rows, one table per `Row.table`, each number beside its peer, ratio and target."""
    console = console or Console(width=None if sys.stdout.isatty() else 140)
    marks = {True: "[green]met[/]", False: "[red]missed[/]", None: ""}
    for title in dict.fromkeys(row.table for row in rows):
        table = Table("what", title=title, title_justify="left", title_style="bold")
        for heading in ("ours", "theirs", "ratio"):
            table.add_column(heading, justify="right")
        for heading in ("unit", "peer", "target", ""):
            table.add_column(heading)
        for row in (row for row in rows if row.table == title):
            numbers = (shown(row.ours), shown(row.theirs), shown(row.ratio))
            table.add_row(row.what, *numbers, row.unit, row.peer, row.target, marks[row.met])
        console.print(table)


def machine() -> dict[str, str | int]:
    """Describe what the numbers were measured on."""
    models = re.findall(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return {
        "processor": models[0] if models else platform.machine(),
        "cores": os.cpu_count() or 1,
        "python": platform.python_version(),
        **{library: version(library) for library in ("moontide", "torch", "numpy", "lupa", "pyzmq")},
    }
