"""Three ways to manage parameters: what a worker tells its node before it uses keys, and nothing else.

Each is a function ``(kv, keys, start, end, wait)``: the worker `kv` will use the keys in its clocks [start, end); with
`wait` it is about to begin.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pyps

Keys = NDArray[np.int64]
Management = Callable[[pyps.Worker, Keys, int, int, bool], object]

FOR_EVER = 1 << 62


def classic(kv: pyps.Worker, keys: Keys, start: int, end: int, wait: bool) -> None:
    """Say nothing: every key stays on its home node, and who is elsewhere asks there."""


def relocation(kv: pyps.Worker, keys: Keys, start: int, end: int, wait: bool) -> Any:
    """Have the keys brought here, as Lapse does; an operation on a key that is on its way waits for it."""
    return kv.localize(keys, asynchronous=not wait)


def intent(kv: pyps.Worker, keys: Keys, start: int, end: int, wait: bool) -> None:
    """Only tell when the keys will be used, as in AdaPM: the nodes relocate or replicate them."""
    kv.intent(keys, start, end)


MANAGEMENTS: dict[str, Management] = {"classic": classic, "relocation": relocation, "intent": intent}

# How keys are drawn that may be any: where they live, brought here before, or such as are here.
SAMPLING = {"classic": "naive", "relocation": "preloc", "intent": "local"}
# What the nodes do where they are told of keys.
TECHNIQUES = {"classic": "all", "relocation": "relocation_only", "intent": "all"}
