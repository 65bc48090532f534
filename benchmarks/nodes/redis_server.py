"""Redis for the time of a benchmark, if it is installed: MGET and MSET of the same values over loopback."""

from __future__ import annotations

import itertools
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

SERVER = "redis-server"
START_TIMEOUT = 20.0  # seconds


@contextmanager
def redis_loops(
    num_keys: int, length: int
) -> Iterator[tuple[Callable[[int], float], Callable[[int], float]] | None]:
    """Give loops of MGET and of MSET of 1000 keys, the values as bytes; None where there is no redis-server."""
    if not shutil.which(SERVER):
        yield None
        return
    import redis

    with tempfile.TemporaryDirectory() as directory, socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
        probe.close()
        options = {"bind": "127.0.0.1", "port": port, "save": "", "appendonly": "no", "dir": directory}
        words = [word for name, value in options.items() for word in (f"--{name}", str(value))]
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "KILL", SERVER, *words],
            stdout=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            with redis.Redis("127.0.0.1", port) as client:
                wait_for(client)
                yield loops(client, num_keys, length)
        finally:
            process.kill()
            process.wait()


def wait_for(client: object) -> None:
    """Wait until the server answers."""
    import redis

    end = time.monotonic() + START_TIMEOUT
    while True:
        try:
            client.ping()  # type: ignore[attr-defined]
            return
        except redis.ConnectionError:
            if time.monotonic() > end:
                raise
            time.sleep(0.02)


def loops(
    client: object, num_keys: int, length: int
) -> tuple[Callable[[int], float], Callable[[int], float]]:
    """Fill the server; return the loops."""
    value = np.ones(length, np.float32).tobytes()
    for start in range(0, num_keys, 10_000):
        client.mset({str(key): value for key in range(start, min(start + 10_000, num_keys))})  # type: ignore[attr-defined]
    rng = np.random.default_rng(0)
    batches = [[str(key) for key in batch] for batch in rng.integers(0, num_keys, (100, 1000))]
    keys = itertools.cycle(batches)
    updates = itertools.cycle([dict.fromkeys(batch, value) for batch in batches])

    def pull(count: int) -> float:
        start = time.perf_counter()
        for _ in range(count):
            np.frombuffer(b"".join(client.mget(next(keys))), np.float32)  # type: ignore[attr-defined]
        return time.perf_counter() - start

    def push(count: int) -> float:
        start = time.perf_counter()
        for _ in range(count):
            client.mset(next(updates))  # type: ignore[attr-defined]
        return time.perf_counter() - start

    return pull, push
