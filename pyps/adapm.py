"""AdaPM's module for its programs: ``from pyps import adapm`` in place of ``import adapm``.

https://github.com/alexrenz/AdaPM: pull, push, set, intent and sampling, between the nodes of the DMLC_* environment.
Everything else of `pyps` is there too.
"""

from __future__ import annotations

import operator
import warnings
from collections.abc import Mapping
from typing import Any

from pyps import options as known
from pyps import originals
from pyps.options import split_arguments
from pyps.timestamps import ANSWERED, Timestamp

__all__ = ["Server", "Worker", "scheduler", "setup", "split_arguments"]


def setup(
    num_keys: int,
    num_threads: int,
    use_techniques: str = "",
    num_channels: int = -1,
    *,
    options: Mapping[str, object] | None = None,
) -> None:
    """Set what the server of this process is to be like.

    Parameters
    ----------
    num_keys, num_threads : int
        How many keys, and how many workers on each node.
    use_techniques : str
        "all", "replication_only" or "relocation_only". If it is empty: the option ``sys.techniques``, or "all".
    num_channels : int
        Threads of the server, among which its keys are shared; the same number on all nodes. If it is -1: the
        option ``sys.channels``, or 1.
    options : mapping of str to object, optional
        The arguments of AdaPM's programs without their dashes: ``{"sys.trace.keys": "all"}``. `split_arguments`
        finds them in a command line. Values are texts, numbers, True or False.

    Raises
    ------
    TypeError, ValueError
        An argument does not fit, or there is no such option.

    Warns
    -----
    UserWarning
        An option has no effect here; docs/options.md lists all options.
    """
    channels = known.read("setup", "num_channels", operator.index(num_channels))
    originals.set_up(num_keys, num_threads, use_techniques, channels, options)


def scheduler(num_keys: int, num_threads: int) -> None:
    """Bring the nodes of the DMLC_* environment together; returns when all have shut down."""
    originals.schedule(num_keys, num_threads)


POOL_SIZE, POOL_USES = 250, 1  # AdaPM's defaults; pyps uses each draw several times, as NuPS does


class Server(originals.Server):
    """A node: ``Server(value_length)``, or ``Server(value_lengths)`` with a length for each key.

    See `pyps.originals.Server` for the rest.
    """

    def enable_sampling_support(
        self,
        scheme: str | None,
        with_replacement: bool | None,
        distribution: str,
        min: int,  # noqa: A002
        max: int,  # noqa: A002
    ) -> None:
        """Let this node's workers draw samples; see `pyps.Server.enable_sampling_support`.

        Parameters
        ----------
        scheme, with_replacement
            None: the options ``sampling.scheme`` and ``sampling.with_replacement``, or else "local" and True.
        distribution, min, max
            The same as there. Each draw of a pool is used once, or as often as the option ``sampling.reuse`` says.
        """
        told = self.options
        if scheme is None:
            scheme = told.get("sampling.scheme", "local")
        if with_replacement is None:
            with_replacement = told.get("sampling.with_replacement", True)
        self.node.enable_sampling_support(
            scheme,
            with_replacement,
            distribution,
            min,
            max,
            pool_size=told.get("sampling.pool_size", POOL_SIZE),
            pool_uses=told.get("sampling.reuse", POOL_USES),
        )


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
        self._acts_in_time = server.options.get("sys.time_intent_actions", True)

    def intent(  # type: ignore[override]
        self, keys: Any, start: int, end: int = 0, *, timeout: float | None = None
    ) -> Timestamp:
        """Say that this worker will use the keys in clocks [start, end); the result needs no waiting."""
        super().intent(keys, *self._clocks(start, end), timeout=timeout)
        return ANSWERED

    def advance_clock(self) -> None:  # type: ignore[override]
        """Add one to this worker's clock; `current_clock` returns it."""
        super().advance_clock()

    def prepare_sample(self, K: int, start: int, end: int = 0, *, timeout: float | None = None) -> int:
        """Draw a sample of `K` keys for clocks [start, end); see `pyps.Worker.prepare_sample`."""
        return super().prepare_sample(K, *self._clocks(start, end), timeout=timeout)

    def _clocks(self, start: int, end: int) -> tuple[int, int]:
        """Return the clocks for an intent; if ``sys.time_intent_actions`` is false, it begins now at the latest."""
        if self._acts_in_time or start < 0 or 0 < end <= start:  # the last two are refused later
            return start, end
        return min(start, self.current_clock()), end or start + 1

    def wait_replica_sync(self) -> None:
        """Call `wait_sync`: this is the name that older versions of AdaPM have for it."""
        warnings.warn("wait_replica_sync is called wait_sync now", DeprecationWarning, stacklevel=2)
        self.wait_sync()
