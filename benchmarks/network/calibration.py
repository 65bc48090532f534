"""What the relay adds to a link: round trips and rates between two hosts, beside those that the link says."""

from __future__ import annotations

import socket
import statistics
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from benchmarks.network.hosts import Host, Link, Passed, network

MESSAGE = 32  # bytes
PIECE = 1 << 20
TIMEOUT = 60.0


@dataclass(frozen=True)
class Calibration:
    """What was measured of a link.

    Attributes
    ----------
    link : Link
    round_trip, loopback : float
        Seconds of a small message and its answer by TCP: between the hosts, and without any network.
    rate : float
        Bits per second of a stream.
    passed : Passed
        What the relay did for it.
    """

    link: Link
    round_trip: float
    loopback: float
    rate: float
    passed: Passed

    @property
    def added(self) -> float:
        """Seconds that a round trip takes longer than the link says."""
        return self.round_trip - self.loopback - 2 * self.link.delay


def calibrate(link: Link, quick: bool) -> Calibration:
    """Measure a link; it needs the rights of root."""
    count, size = (50, 4) if quick else (1000, 256)
    with connected("127.0.0.1") as (near, far):
        loopback = round_trip(near, far, count)
    with network(2, link) as made:
        one, other = made.hosts
        with connected(one.address, one, other) as (near, far):
            between = round_trip(near, far, count)
            rate = stream(near, far, size * PIECE)
    return Calibration(link, between, loopback, rate, made.passed)


@contextmanager
def connected(
    address: str, listener: Host | None = None, caller: Host | None = None
) -> Iterator[tuple[socket.socket, socket.socket]]:
    """Connect two sockets by TCP, each on its host."""

    def listen() -> socket.socket:
        if listener is not None:
            listener.enter()
        return socket.create_server((address, 0))

    def call(port: int) -> socket.socket:
        if caller is not None:
            caller.enter()
        return socket.create_connection((address, port), TIMEOUT)

    with ThreadPoolExecutor(1) as here, ThreadPoolExecutor(1) as there, ExitStack() as stack:
        server = stack.enter_context(here.submit(listen).result())
        near = stack.enter_context(there.submit(call, server.getsockname()[1]).result())
        far = stack.enter_context(server.accept()[0])
        for end in (near, far):
            end.settimeout(TIMEOUT)
            end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        yield near, far


def round_trip(near: socket.socket, far: socket.socket, count: int) -> float:
    """Return the median seconds of a message and its answer."""

    def answer() -> None:
        for _ in range(count):
            far.sendall(received(far, MESSAGE))

    answering = threading.Thread(target=answer)
    answering.start()
    seconds = []
    for _ in range(count):
        start = time.perf_counter()
        near.sendall(b"?" * MESSAGE)
        received(near, MESSAGE)
        seconds.append(time.perf_counter() - start)
    answering.join()
    return statistics.median(seconds)


def stream(near: socket.socket, far: socket.socket, size: int) -> float:
    """Send so many bytes; return how many bits per second came."""
    sending = threading.Thread(target=near.sendall, args=(bytes(size),))
    start = time.perf_counter()
    sending.start()
    received(far, size)
    seconds = time.perf_counter() - start
    sending.join()
    return 8 * size / seconds


def received(from_: socket.socket, size: int) -> bytes:
    """Receive so many bytes."""
    parts = []
    while size > 0:
        parts.append(from_.recv(min(size, PIECE)))
        if not parts[-1]:
            raise ConnectionError("the connection ended")
        size -= len(parts[-1])
    return b"".join(parts)
