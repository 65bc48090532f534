"""Ways to manage parameters: what a worker tells its node before it uses keys, and what follows from that.

A way is one function ``(kv, keys, start, end, wait)``: the worker `kv` will use the keys in its clocks [start, end);
with `wait` it is about to begin.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import pyps

Keys = NDArray[np.int64]
Tell = Callable[[pyps.Worker, Keys, int, int, bool], object]

FOR_EVER = 1 << 62


def classic(kv: pyps.Worker, keys: Keys, start: int, end: int, wait: bool) -> None:
    """Say nothing: every key stays on its home node, and workers of other nodes ask there."""


def relocation(kv: pyps.Worker, keys: Keys, start: int, end: int, wait: bool) -> Any:
    """Have the keys brought here, as Lapse does; an operation on a key that is on its way waits for it."""
    return kv.localize(keys, asynchronous=not wait)


def intent(kv: pyps.Worker, keys: Keys, start: int, end: int, wait: bool) -> None:
    """Only tell when the keys will be used, as in AdaPM: the nodes relocate or replicate them.

    A block that this worker alone uses for a while is localized: then no node asks first whether others want it.
    """
    if wait and end < FOR_EVER:
        kv.localize(keys)
        return
    kv.intent(keys, start, end)
    if wait:
        kv.wait_sync()  # also for keys that are on their way here


@dataclass(frozen=True)
class Management:
    """A way, and what goes with it.

    Attributes
    ----------
    tell : callable
        See above.
    sampling : str
        How keys are drawn that may be any. Each of these schemes draws by the weights, wherever keys are. "local",
        which asks no other node, would draw what this node's batches use anyway, and leave out what others use.
    techniques : str
        What the nodes do where they are told of keys.
    replicates : bool
        Whether nodes have replicas. Then a worker lets them be exchanged after each batch, as its own clock may be much
        faster than the servers: where they lack cores, it would learn from values that are several batches old.
    """

    tell: Tell
    sampling: str
    techniques: str = "all"
    replicates: bool = False


MANAGEMENTS = {
    "classic": Management(classic, "naive"),
    "relocation": Management(relocation, "preloc", "relocation_only"),
    "intent": Management(intent, "preloc", replicates=True),
    "auto": Management(intent, "preloc", "auto", replicates=True),
}
