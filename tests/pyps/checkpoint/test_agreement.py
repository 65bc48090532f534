"""Which keys are left, and how long nodes go on looking for them."""

from __future__ import annotations

import time

import numpy as np
import pytest

import pyps
from pyps.checkpoint.agreement import require_time


def test_keys_that_are_left_when_the_time_is_over_are_named() -> None:
    over = time.monotonic() - 1
    with pytest.raises(
        pyps.WaitTimeoutError, match="2 keys, 5 among them, were found on no node or on several"
    ):
        require_time(np.array([5, 9]), over)
    require_time(np.array([], np.int64), over)
    require_time(np.array([5, 9]), over + 60)
