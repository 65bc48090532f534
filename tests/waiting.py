"""Waiting for what happens by itself."""

from __future__ import annotations

import time
from collections.abc import Callable

LIMIT = 20.0  # seconds


def wait_until(done: Callable[[], bool], limit: float = LIMIT, every: float = 0.01) -> None:
    """Wait until it is done; look again after `every` seconds, for `limit` seconds at most."""
    end = time.monotonic() + limit
    while not done():
        assert time.monotonic() < end, f"it is not done after {limit:g} s"
        time.sleep(every)
