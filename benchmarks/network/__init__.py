"""Hosts of their own on this machine, whose links have a delay and a rate, and the applications on them.

Each host has two processors: where this machine has fewer, all is slowed down, and the seconds are those of the hosts.
"""

from __future__ import annotations

from collections.abc import Iterator

from benchmarks.apps.tasks import APPS
from benchmarks.harness import Row
from benchmarks.network.calibration import calibrate
from benchmarks.network.hosts import Link
from benchmarks.network.training import train_on_hosts
from examples.apps.management import MANAGEMENTS

NAME = "network"
DELAYS = (0.0001, 0.0005, 0.002)  # seconds
RATES = (1e9, 1e10)  # bits per second
TRAINED = ("dsgd", "complex", "word2vec")
LINK = Link(0.0005, 1e10)  # of the trainings
NODES = (2, 4)


def run(quick: bool) -> list[Row]:
    """Calibrate the links, and train over one of them."""
    links = [Link(delay, rate) for delay in DELAYS for rate in RATES]
    return [
        *(row for link in links[: 1 if quick else None] for row in calibrated(link, quick)),
        *(row for app in TRAINED[: 1 if quick else None] for row in trainings(app, quick)),
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


def trainings(app: str, quick: bool) -> Iterator[Row]:
    """Train on one host, and on several with each management."""
    one, _ = train_on_hosts(app, "classic", 1, LINK, quick)
    for nodes in NODES[: 1 if quick else None]:
        for management in MANAGEMENTS:
            seen, _ = train_on_hosts(app, management, nodes, LINK, quick)
            yield Row(
                table=f"{NAME}: {APPS[app].title} over {LINK}: {seen.metric}, time of an epoch",
                what=f"{nodes} nodes, {management}: {seen.quality:.3f}, {seen.share_local:.1%} local, "
                f"{seen.core_seconds:.2f} s of cores",
                ours=seen.seconds,
                unit="s",
                peer=f"1 node: {one.quality:.3f}, {one.core_seconds:.2f} s of cores",
                theirs=one.seconds,
            )
