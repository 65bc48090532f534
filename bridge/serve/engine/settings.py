"""The settings by which models are served."""

from __future__ import annotations

import os
from dataclasses import dataclass

WATCH = 0.0003  # seconds


@dataclass(frozen=True)
class ModelSettings:
    """The settings for all models.

    Attributes
    ----------
    function, key, network, device, allow_functions
        As in `bridge.models.load`.
    workers : int
        Number of processes, each of which loads the whole model.
    batch : int or None
        Most rows that a process computes together; 1: requests are not joined. None: 32 for networks; 1 for Lua
        functions, whose rows may depend on each other.
    batch_wait : float
        Most seconds that a request waits for others while a process is free, if others are likely.
    timeout : float
        Most seconds for a request, waiting and computing. A process that computes longer is ended.
    queue : int
        Most requests that may wait; further ones are refused.
    memory : int or None
        Most bytes for the model and its calls in a process; None: no limit.
    start_timeout : float
        Most seconds for loading.
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
        """The number of torch's threads in each process, so that all processes together use all cores."""
        return max(1, (os.cpu_count() or 1) // self.workers)

    @property
    def watch(self) -> float:
        """Seconds that a process waits for a call without sleeping; 0 if there are as many processes as cores."""
        return WATCH if self.workers < (os.cpu_count() or 1) else 0.0
