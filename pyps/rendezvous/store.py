"""torch's TCPStore, which this process serves or connects to. torch is imported only when it is needed."""

from __future__ import annotations

import contextlib
import errno
import socket
import time
from datetime import timedelta
from typing import Any, Protocol, cast

from pyps.errors import StartError
from pyps.rendezvous.interfaces import at_port, find_address, listen

# Seconds between attempts to reach a server that is not there yet: at first, and at most.
AGAIN_AFTER = (0.01, 0.2)
OPERATION_TIMEOUT = timedelta(seconds=60)  # of an operation that waits for no other process


class Store(Protocol):
    """The part of `torch.distributed.Store` that is used here."""

    def set(self, key: str, value: str, /) -> None:
        """Write a key; wakes those that wait for it."""

    def get(self, key: str, /) -> bytes:
        """Wait for a key and read it."""

    def add(self, key: str, amount: int, /) -> int:
        """Add to a counter; return the sum."""

    def check(self, keys: list[str], /) -> bool:
        """Return whether all keys have been written."""

    def wait(self, keys: list[str], timeout: timedelta, /) -> None:
        """Wait until all keys have been written."""

    def multi_get(self, keys: list[str], /) -> list[bytes]:
        """Read several keys, which must have been written."""


def part_of(store: Store, prefix: str) -> Store:
    """Return the store with a prefix before all keys."""
    from torch._C._distributed_c10d import PrefixStore  # torch.distributed exports no types for it

    return PrefixStore(prefix, cast(Any, store))


def over_another_connection(store: Store) -> Store:
    """Return the same store over another connection."""
    return cast(Store, cast(Any, store).clone())  # torch's own types lack it


def serve_store(host: str, port: int) -> Store:
    """Serve a store in this process, for as long as the object lives.

    Parameters
    ----------
    host : str
        An address, interface or name of this host. The store is served at this address only.
    port : int
        For 0 a free port is chosen, which is the store's `port`.

    Raises
    ------
    OSError
        The port is taken, or the address is not one of this host.
    """
    return serve_store_with(listen(find_address(host), port))


def serve_store_with(listening: socket.socket) -> Store:
    """Serve a store with a socket that listens already; the store takes it over."""
    address, port = listening.getsockname()[:2]
    return _tcp_store(
        address,
        port,
        is_master=True,
        multi_tenant=True,  # so that torch.distributed can serve the same one
        master_listen_fd=listening.detach(),
    )


def reach_store(host: str, port: int, timeout: float) -> Store:
    """Connect to a store; wait for it if it is not served yet.

    Raises
    ------
    StartError
        It did not appear within the timeout, in seconds.
    """
    deadline = time.monotonic() + timeout
    pause, most = AGAIN_AFTER
    while True:  # TCPStore itself would wait for a second and log every attempt
        try:
            socket.create_connection((host, port), max(0.1, deadline - time.monotonic())).close()
            break
        except OSError as error:
            if time.monotonic() + pause > deadline:
                raise StartError(
                    f"nobody serves the rendezvous at {at_port(host, port)} after {timeout:.1f} s: "
                    f"{error.strerror or error}"
                ) from None
        time.sleep(pause)
        pause = min(2 * pause, most)
    return _tcp_store(host, port, is_master=False)


def reach_unused_store(host: str, port: int, counter: str, most: int, timeout: float) -> tuple[Store, int]:
    """Connect to a store that serves one start only, and not to that of a former start, which is about to end.

    Parameters
    ----------
    counter : str
        The counter of the processes that have connected.
    most : int
        How many processes may connect to one store. If there were that many, it belongs to a former start.

    Returns
    -------
    tuple of Store and int
        The store, and how many had connected before.

    Raises
    ------
    StartError
        There is no such store within the timeout, in seconds.
    """
    deadline = time.monotonic() + timeout
    while True:
        store = reach_store(host, port, max(0.0, deadline - time.monotonic()))
        with contextlib.suppress(RuntimeError):  # the store has just ended
            before = store.add(counter, 1) - 1
            if before < most:
                return store, before
        if time.monotonic() + AGAIN_AFTER[1] > deadline:
            raise StartError(
                f"the rendezvous at {at_port(host, port)} has the process already that this one would be"
            )
        del store
        time.sleep(AGAIN_AFTER[1])


def serve_or_reach_store(host: str, port: int, timeout: float) -> Store:
    """Serve a store; if this process or its parent serves one at this port already, connect to that."""
    try:
        return serve_store(host, port)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
    return reach_store(host, port, timeout)


def _tcp_store(host: str, port: int, **options: Any) -> Store:
    from torch._C._distributed_c10d import TCPStore

    return TCPStore(host, port, timeout=OPERATION_TIMEOUT, wait_for_workers=False, **options)
