"""Hosts of their own on this machine, whose links have a delay and a rate, and the applications on them.

Leaves `out/network.json` with every epoch and `out/network.png` with the speed over the number of hosts. Each host has
a processor for its worker and one for all else: where this machine has fewer, all is slowed down, and the seconds are
those of the hosts. As hosts share this machine's caches, each is also slower, the more so the more there are. So
trainings on some hosts are compared with as many hosts that train alone at the same time, each all of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

from benchmarks.apps.measure import Plan, Training, train_all, write
from benchmarks.apps.tasks import APPS
from benchmarks.harness import Row
from benchmarks.network.calibration import calibrate
from benchmarks.network.hosts import Link
from benchmarks.network.plot import draw
from benchmarks.network.training import ALONE, alone_on, train_on_hosts
from examples.apps.management import MANAGEMENTS
from examples.apps.task import Task
from examples.apps.training import Epoch

NAME = "network"
DELAYS = (0.0001, 0.0005, 0.002)  # seconds
RATES = (1e9, 1e10)  # bits per second
TRAINED = ("dsgd", "complex", "word2vec")
LINK = Link(0.0005, 1e10)  # of the trainings
HOSTS = (1, 2, 4)
PLACE = Path("out")
AIMS = {("dsgd", 4): 3.2, ("complex", 4): 2.5, ("word2vec", 4): 2.5}  # times as fast as alone, with auto
SLOWER = 1.05  # than the best management, at most, with auto
# Times as many epochs as `benchmarks apps` has: what nodes try at first would be most of those.
LONGER = {"complex": 4}


def run(quick: bool) -> list[Row]:
    """Calibrate the links, and train over one of them."""
    links = [Link(delay, rate) for delay in DELAYS for rate in RATES]
    rows = [row for link in links[: 1 if quick else None] for row in calibrated(link, quick)]
    trained = train_all(plan(quick), quick, by=over_link, longer=LONGER)
    write(trained, PLACE / "network.json")
    draw(trained, LINK, PLACE / "network.png")
    return [*rows, *rows_of(trained)]


def plan(quick: bool) -> Plan:
    """Return app, hosts and management of each training."""
    return [
        (app, hosts, management)
        for app in TRAINED[: 1 if quick else None]
        for hosts in HOSTS[: 2 if quick else None]
        for management in (ALONE, *(MANAGEMENTS if hosts > 1 else ()))
    ]


def calibrated(link: Link, quick: bool) -> Iterator[Row]:
    """Measure what the relay adds."""
    seen = calibrate(link, quick)
    yield Row(
        table=f"{NAME}: what the relay adds to a link",
        what=f"{link}: a round trip by TCP",
        ours=1e6 * seen.round_trip,
        unit="us",
        peer="loopback's and twice the delay",
        theirs=1e6 * (seen.loopback + 2 * link.delay),
    )
    yield Row(
        table=f"{NAME}: what the relay adds to a link",
        what=f"{link}: a stream, {1e6 * seen.passed.core_seconds / seen.passed.passed:.1f} us of a core for a packet",
        ours=seen.rate / 1e9,
        unit="Gbit/s",
        peer="the link's rate",
        theirs=link.rate / 1e9,
    )


def over_link(task: Task, **how: Any) -> list[Epoch]:
    """Train on hosts with the link of the trainings."""
    seen, _ = train_on_hosts(task, **how, link=LINK, parted=True)
    return seen


def rows_of(trained: Sequence[Training]) -> Iterator[Row]:
    """Return a row for each training by several hosts, beside hosts that train alone; and auto's beside the best."""
    for seen in trained:
        if seen.management == ALONE:
            continue
        alone = alone_on(seen.nodes, seen.app, trained)
        what = f"{seen.nodes} hosts, {seen.management}"
        aim = AIMS.get((seen.app, seen.nodes)) if seen.management == "auto" else None
        row = partial(
            Row,
            table=f"{NAME}: {APPS[seen.app].title} over {LINK}: {seen.metric}, time of an epoch",
            unit="s",
        )
        yield row(
            what=f"{what}: {seen.quality:.3f}, {seen.share_local:.1%} local, {seen.core_seconds:.2f} s of cores",
            ours=seen.seconds,
            peer=f"alone: {alone.quality:.3f}, {alone.core_seconds:.2f} s of cores",
            theirs=alone.seconds,
            target=f"<= {1 / aim:.4g}x" if aim else "",
        )
        if seen.management == "auto":
            others = [one for one in trained if (one.app, one.nodes) == (seen.app, seen.nodes)]
            best = min(
                (one for one in others if one.management not in (ALONE, "auto")), key=attrgetter("seconds")
            )
            yield row(
                what=what,
                ours=seen.seconds,
                peer=best.management,
                theirs=best.seconds,
                target=f"<= {SLOWER}x",
            )
