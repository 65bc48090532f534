"""A worker with a server of its own, in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from pyps.familiar import NODE, pointing
from pyps.node import Worker
from pyps.server import Server


class LocalWorker(Worker):
    """A worker with its own server, which ends when the worker does."""

    def finalize(self, timeout: float | None = None) -> None:
        """Leave the node and shut it down. Any thread may call it, also more than once."""
        super().finalize(timeout)
        self.node.shutdown()


@pointing(NODE)
def local(
    num_keys: int | None = None, value_length: int | Sequence[int] | ArrayLike = 1, **options: Any
) -> LocalWorker:
    """Start a server inside this process and return a worker of it. With `num_keys` it needs no ports and no threads.

    Parameters
    ----------
    num_keys, value_length, **options
        As for `Server`.

    Returns
    -------
    LocalWorker
        A context manager; the server ends with it. ``kv.node.worker()`` makes further workers.

    Examples
    --------
    >>> with local(num_keys=1000, value_length=10) as kv:
    ...     kv.push([3], np.ones(10, np.float32))
    ...     kv.pull([3, 3]).sum()
    np.float32(20.0)
    """
    return LocalWorker(Server(num_keys, value_length, **options))
