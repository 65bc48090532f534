"""How a model is served."""

from __future__ import annotations

import os
from dataclasses import dataclass

WATCH = 0.0003  # seconds


@dataclass(frozen=True)
class ModelSettings:
    """What holds for every version of a model.

    Attributes
    ----------
    function, key, network, device, allow_functions
        As in `bridge.models.load`.
    workers : int
        Processes, each with the whole model.
    batch : int or None
        Rows that go to a process together, at most; 1 joins nothing. None: 32 for networks, 1 for functions of Lua,
        of which nobody knows whether they treat rows apart.
    batch_wait : float
        Seconds that a request waits for others while a process is free, where others are to be expected.
    timeout : float
        Seconds that a request may take, waiting and computing; a process that computes longer is ended.
    queue : int
        Requests that may wait; one more is refused.
    memory : int or None
        Bytes that the model and its calls may take in a process; None: what the host has.
    start_timeout : float
        Seconds that loading may take.
    """

    function: str | None = None
    key: str | None = None
    network: str | None = None
    device: str = "cpu"
    allow_functions: bool = False
    workers: int = 1
    batch: int | None = None
    batch_wait: float = 0.002
    timeout: float = 30.0
    queue: int = 1024
    memory: int | None = None
    start_timeout: float = 60.0

    @property
    def threads(self) -> int:
        """Threads of torch in each process, so that all together keep the cores busy."""
        return max(1, (os.cpu_count() or 1) // self.workers)

    @property
    def watch(self) -> float:
        """Seconds that processes look for what comes next without sleep: none, where they are as many as the cores."""
        return WATCH if self.workers < (os.cpu_count() or 1) else 0.0
