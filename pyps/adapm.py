"""AdaPM's module for its programs: ``from pyps import adapm`` in place of ``import adapm``.

https://github.com/alexrenz/AdaPM: pull, push, set, intent and sampling, between the nodes of the DMLC_* environment.
Everything else of `pyps` is there too.
"""

from __future__ import annotations

import operator
import warnings
from typing import Any

from pyps import originals
from pyps.timestamps import ANSWERED, Timestamp

__all__ = ["Server", "Worker", "scheduler", "setup"]


def setup(num_keys: int, num_threads: int, use_techniques: str = "all", num_channels: int = -1) -> None:
    """Say what the server of this process is like.

    Parameters
    ----------
    num_keys, num_threads : int
        How many keys, and how many workers on each node.
    use_techniques : str
        "all" (or ""), "replication_only" or "relocation_only".
    num_channels : int
        Of no meaning: a node has one thread, whatever this says.
    """
    operator.index(num_channels)
    originals.set_up(num_keys, num_threads, use_techniques or "all")


def scheduler(num_keys: int, num_threads: int) -> None:
    """Bring the nodes of the DMLC_* environment together; returns when all have shut down."""
    originals.schedule(num_keys, num_threads)


class Server(originals.Server):
    """A node: ``Server(value_length)``, or ``Server(value_lengths)`` with a length for each key.

    See `pyps.originals.Server` for the rest.
    """

    def enable_sampling_support(
        self,
        scheme: str,
        with_replacement: bool,
        distribution: str,
        min: int,  # noqa: A002
        max: int,  # noqa: A002
    ) -> None:
        """Let this node's workers draw samples; see `pyps.Server.enable_sampling_support`."""
        self.node.enable_sampling_support(scheme, with_replacement, distribution, min, max)


class Worker(originals.Worker):
    """A worker of a server, for one thread.

    Parameters
    ----------
    customer_id : int
        Which one of the node's workers, from 0 to `setup`'s ``num_threads - 1``.
    server : Server
    """

    def __init__(self, customer_id: int, server: Server) -> None:
        super().__init__(customer_id, server, first=0)

    def intent(  # type: ignore[override]
        self, keys: Any, start: int, end: int = 0, *, timeout: float | None = None
    ) -> Timestamp:
        """Tell that this worker will use the keys in clocks [start, end); there is nothing to wait for."""
        super().intent(keys, start, end, timeout=timeout)
        return ANSWERED

    def prepare_sample(self, K: int, start: int, end: int = 0, *, timeout: float | None = None) -> int:
        """Draw a sample of `K` keys for clocks [start, end); see `pyps.Worker.prepare_sample`."""
        return super().prepare_sample(K, start, end, timeout=timeout)

    def wait_replica_sync(self) -> None:
        """Do what `wait_sync` does, by its former name."""
        warnings.warn("wait_replica_sync is called wait_sync now", DeprecationWarning, stacklevel=2)
        self.wait_sync()
