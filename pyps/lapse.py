"""Lapse's module for its programs: ``from pyps import lapse`` in place of ``import lapse``.

https://github.com/alexrenz/lapse-ps: pull, push, set and localize, between the nodes of the DMLC_* environment.
Everything else of `pyps` is there too.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from typing import Any

from pyps import originals
from pyps.familiar import LAPSE, pointing

__all__ = ["Handle", "Server", "Worker", "scheduler", "setup"]


@pointing(LAPSE)
def setup(num_keys: int, num_threads: int) -> None:
    """Set what the server of this process is to be like: the number of keys, and of workers on each node."""
    originals.set_up(num_keys, num_threads)


def scheduler(num_keys: int, num_threads: int) -> None:
    """Bring the nodes of the DMLC_* environment together; returns when all have shut down."""
    originals.schedule(num_keys, num_threads)


@dataclass(frozen=True)
class Handle:
    """A description of a store: the number of its keys, and the length of their values. ``Server(handle)`` makes it.

    In Lapse it is the store itself, but Python programs can only create it and pass it on.

    Attributes
    ----------
    num_keys, value_length : int
        At least 1.

    Raises
    ------
    TypeError, ValueError
        One of them is not.
    """

    num_keys: int
    value_length: int

    def __post_init__(self) -> None:
        originals.at_least_one("num_keys", self.num_keys)
        originals.at_least_one("value_length", self.value_length)


class Server(originals.Server):
    """A node: ``Server(num_keys, value_length)``, or ``Server(value_lengths)`` with a length for each key.

    See `pyps.originals.Server` for the rest.
    """

    def __init__(
        self, value_lengths: Any = None, value_length: int | None = None, *, num_keys: int | None = None
    ) -> None:
        if isinstance(value_lengths, Handle) and num_keys is None and value_length is None:
            value_lengths, num_keys, value_length = None, value_lengths.num_keys, value_lengths.value_length
        if num_keys is None and (value_length is not None or isinstance(value_lengths, int)):
            value_lengths, num_keys = None, value_lengths
        if num_keys is None and value_lengths is not None:
            super().__init__(value_lengths)
            return
        if num_keys is None or value_length is None:
            raise TypeError(
                f"Server({num_keys or ''}) has no value length: write Server(num_keys, value_length)"
            )
        if value_lengths is not None:
            raise TypeError("Server takes num_keys and value_length, or value_lengths")
        expected = originals.required_setup().num_keys
        if operator.index(num_keys) != expected:
            raise ValueError(f"num_keys is {num_keys}, but setup was told {expected}")
        super().__init__(operator.index(value_length))


class Worker(originals.Worker):
    """A worker of a server, for one thread.

    Parameters
    ----------
    app_id : int
        Ignored, as in Lapse.
    customer_id : int
        Which one of the node's workers, from 1 to `setup`'s ``num_threads``.
    server : Server
    """

    def __init__(self, app_id: int, customer_id: int, server: Server) -> None:
        operator.index(app_id)
        super().__init__(customer_id, server, first=1)
