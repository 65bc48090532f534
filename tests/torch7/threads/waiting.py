"""How many threads of Lua there are, and waiting for what they do."""

from __future__ import annotations

import threading
import time
from typing import Any


def workers() -> int:
    return sum(thread.name == "lua" for thread in threading.enumerate())


def wait_until(condition: Any, seconds: float = 10.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)
