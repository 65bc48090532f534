"""A third node joins two that push without pause: no call may fail, and none may take long.

``python -m tests.pyps.joins TIMES KEYS``: that often, with so many keys of 10 elements.
"""

from __future__ import annotations

import sys
import time
from typing import NamedTuple

from tests.pyps.nodes import Actor, Cluster
from tests.waiting import wait_until

KEYS_OF_CALL = 1000
LIMIT = 120.0  # seconds


class Joined(NamedTuple):
    """What one that joins makes of the others.

    Attributes
    ----------
    welcome, spread : float
        Seconds until it was a member, and until a quarter of the keys lived there.
    longest, before : float
        Seconds of the longest call of the others meanwhile, and just before.
    calls : int
    """

    welcome: float
    spread: float
    longest: float
    before: float
    calls: int


def join_one(keys: int, load: float) -> Joined:
    """Let a node join two that push for so many seconds.

    Raises
    ------
    AssertionError
        A call failed, or a push was lost.
    """
    push = f"lambda n: kv.push((np.arange({KEYS_OF_CALL}) * 7919 + n * 31) % {keys}, values(range({KEYS_OF_CALL})))"
    with Cluster(2, num_keys=keys, value_length=10, replicas=1, places=3) as nodes:
        pushing = nodes.nodes[:2]
        joins, line = nodes.prepare()
        earlier = run(pushing, f"repeat({push}, 1)")
        start = time.monotonic()
        for actor in pushing:
            actor.write(f"repeat({push}, {load})")
        joins.write(line)
        assert joins.read() == "ready"
        welcome = time.monotonic() - start
        wait_until(lambda: joins.value("node.stats()['keys_held']") >= keys // 4, LIMIT)
        spread = time.monotonic() - start
        assert spread < load, (
            f"keys spread for {spread:.1f} s, and calls were made for {load:.1f} s: make more"
        )
        during = [actor.read()["value"] for actor in pushing]
        assert [report["errors"] for report in earlier + during] == [[]] * 4
        calls = sum(report["calls"] for report in earlier + during)
        total = joins.value(f"sum(pull(list(range({keys}))))")
        assert total == calls * KEYS_OF_CALL, (
            f"{calls * KEYS_OF_CALL} additions were acknowledged, {total} are there"
        )
        longest, before = (max(report["longest"] for report in reports) for reports in (during, earlier))
        return Joined(welcome, spread, longest, before, calls)


def run(actors: list[Actor], source: str) -> list[dict[str, float]]:
    """Have all evaluate an expression at once; return the values."""
    for actor in actors:
        actor.write(source)
    return [actor.read()["value"] for actor in actors]


if __name__ == "__main__":
    times, number = int(sys.argv[1]), int(sys.argv[2])
    for _ in range(times):
        found = join_one(number, 5.0 + number / 50_000)
        print(
            f"{number} keys: a member after {found.welcome:.2f} s, a quarter of them there after {found.spread:.2f} s; "
            f"{found.calls} calls, none failed; the longest {found.longest:.3f} s, before {found.before:.3f} s",
            flush=True,
        )
