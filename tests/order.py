"""Which tests stay together and which come first, where several processes share them.

The files of a package whose tests share a server or a session stay together, as the tests of any other file do. Those
with slow tests come first, so that at the end only short ones are left and no process works on alone.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

TOGETHER = ("tests/bridge/serve/grpc/", "tests/bridge/serve/rest/", "tests/bridge/spark/")


def unit_of(nodeid: str) -> str:
    """Return what a test stays together with: a package of `TOGETHER`, else its file."""
    file = nodeid.partition("::")[0]
    return next((package for package in TOGETHER if file.startswith(package)), file)


def put_slow_first(items: list[pytest.Item]) -> None:
    """Put what has most slow tests first; the rest stays in its order."""
    marks = ("slow", "long")
    slow = Counter(unit_of(item.nodeid) for item in items if any(map(item.get_closest_marker, marks)))
    items.sort(key=lambda item: -slow[unit_of(item.nodeid)])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> object:
    """Give out one such unit after the other, in their order."""
    from xdist.scheduler import LoadScopeScheduling

    class Units(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return unit_of(nodeid)

    return Units(config, log)
