"""Models of several threads learn at the same time."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.torch_threads import one_thread


@pytest.fixture(autouse=True)
def one_thread_each() -> Iterator[None]:
    """Workers in threads would wait for each other's."""
    with one_thread():
        yield
