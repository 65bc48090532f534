"""Waiting for what other workers write."""

from __future__ import annotations

import time
from collections.abc import Callable

from pyps.errors import WaitTimeoutError

SHORTEST, LONGEST = 1e-4, 5e-3  # seconds between two looks; they become longer meanwhile


def wait_until(done: Callable[[], bool], timeout: float, missing: Callable[[], str]) -> None:
    """Look again and again until it is done.

    Parameters
    ----------
    done : callable
    timeout : float
        Seconds.
    missing : callable
        Returns what did not happen, for the error.

    Raises
    ------
    WaitTimeoutError
        It was not done in time.
    """
    end = time.monotonic() + timeout
    pause = SHORTEST
    while not done():
        if time.monotonic() >= end:
            raise WaitTimeoutError(f"{missing()} within {timeout:g} s")
        time.sleep(pause)
        pause = min(1.5 * pause, LONGEST)
