"""Ranks as processes that run a piece of source each, with torch imported once for all."""

from __future__ import annotations

import multiprocessing
import os
import time
import traceback
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from tests.system import read

PATIENCE = 60.0  # seconds that a rank may take
TIMEOUT = 10.0  # of the ranks' own waits

context = multiprocessing.get_context("forkserver")
context.set_forkserver_preload(["torch", "numpy", "pyps", "pyps.wholememory", "tests.pyps.wholememory.crew"])


@dataclass
class Outcome:
    """What a rank left in `result`, or which exception ended it, and when it was done."""

    result: Any = None
    error: str = ""
    text: str = ""
    seconds: float = 0.0


class Rank:
    """A process that runs source with `wm`, `torch`, `rank`, `size` and `given`; its `result` comes back."""

    def __init__(self, source: str, rank: int, size: int, given: Any, begin: bool) -> None:
        self.connection, theirs = context.Pipe()
        self.process: BaseProcess = context.Process(
            target=_run, args=(theirs, source, rank, size, given, begin)
        )
        self.process.start()
        theirs.close()

    def finish(self) -> Outcome:
        """Return what came of it; a rank that was killed has the error "killed"."""
        try:
            assert self.connection.poll(PATIENCE), "a rank did not end"
            outcome: Outcome = self.connection.recv()
        except (EOFError, ConnectionResetError):
            outcome = Outcome(error="killed")
        finally:
            self.end()
        return outcome

    def end(self) -> None:
        """Have the process ended and waited for."""
        self.process.join(1)
        self.process.kill()
        self.process.join()
        self.connection.close()
        self.process.close()


def run(
    source: str, size: int = 2, *, given: Sequence[Any] | None = None, begin: bool = True
) -> list[Outcome]:
    """Run the source in so many ranks at once; `begin`: after `init_lib` and `mp_init`."""
    ranks = [Rank(source, rank, size, given[rank] if given else None, begin) for rank in range(size)]
    return [rank.finish() for rank in ranks]


def results(source: str, size: int = 2, **options: Any) -> list[Any]:
    """Run the source in so many ranks and return each one's result; fail if one failed."""
    outcomes = run(source, size, **options)
    failed = [(rank, o.error, o.text) for rank, o in enumerate(outcomes) if o.error]
    if failed:
        raise AssertionError(failed)
    return [outcome.result for outcome in outcomes]


def leave_out_others() -> None:
    """In a rank: count what this test's ranks hold alone, since other programs create tensors at any moment."""
    from pyps.wholememory import room

    everybody, parent = room.memory_files, str(os.getppid())

    def ours() -> Iterator[Path]:
        for path in everybody():
            if read(path.parents[1] / "stat").rpartition(")")[2].split()[1:2] == [parent]:
                yield path

    room.memory_files = ours  # type: ignore[assignment]


def _run(connection: Connection, source: str, rank: int, size: int, given: Any, begin: bool) -> None:
    import numpy as np
    import torch

    from pyps import wholememory as wm

    warnings.simplefilter("error")
    torch.set_num_threads(1)
    names = {
        "wm": wm,
        "torch": torch,
        "np": np,
        "os": os,
        "time": time,
        "rank": rank,
        "size": size,
        "given": given,
        "leave_out_others": leave_out_others,
    }
    outcome = Outcome()
    start = time.monotonic()
    try:
        if begin:
            wm.init_lib()
            wm.mp_init(rank, size, timeout=TIMEOUT)
        start = time.monotonic()
        exec(source, names)
        outcome.result = names.get("result")
    except Exception as error:
        outcome.error, outcome.text = type(error).__name__, str(error) or traceback.format_exc()
    outcome.seconds = time.monotonic() - start
    connection.send(outcome)
    connection.close()
