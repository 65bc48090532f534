"""Models of several threads learn at the same time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(autouse=True)
def one_thread_each() -> Iterator[None]:
    """Let torch compute in the thread that calls it: more threads than processors wait for each other."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)
