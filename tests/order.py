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

        def remove_node(self, node: Any) -> str | None:
            """Give what a process had left to the others, but not the test that ended it: it would end them, too."""
            units = self.assigned_work[node].values()
            unit = next((unit for unit in units if not all(unit.values())), None)
            if unit is None:
                return super().remove_node(node)
            crashed = next(test for test, is_done in unit.items() if not is_done)
            unit[crashed] = True
            super().remove_node(node)
            return crashed

        def _reschedule(self, node: Any) -> None:
            """Let a process know of two tests, or that there are no others: it begins none without the next one."""
            super()._reschedule(node)
            while not node.shutting_down and self._pending_of(self.assigned_work[node]) < 2:
                super()._reschedule(node)

    return Units(config, log)
