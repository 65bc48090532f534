"""The simulator beside the real thing: the applications on hosts of this machine, whose links have delays.

`python -m benchmarks.simulate.comparison` trains, and predicts each training from a recording of the application on one
node and the costs that were measured before. Hosts of this machine share its processors, so the simulated ones do, too.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import socket
import statistics
import tempfile
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from benchmarks.apps.tasks import APPS
from benchmarks.harness import Row, print_tables
from benchmarks.network import LINK
from benchmarks.network.calibration import PIECE, calibrate, connected, round_trip, stream
from benchmarks.network.hosts import MTU, Link, network
from benchmarks.network.shares import SPARE, quota_and_period, slowness_of
from benchmarks.network.training import PROCESSORS, train_on_hosts
from benchmarks.simulate import cold
from benchmarks.simulate.program import Seen, simulate
from benchmarks.simulate.recording import record
from benchmarks.simulate.settings import Recorded, Run, load_costs
from examples.apps.management import MANAGEMENTS

APPLICATIONS = ("dsgd", "complex", "word2vec")
PLACE = Path("out/predicted.json")
HEADERS = 52  # bytes of a packet on the hosts' links: of IP and TCP
STREAM = 256 * PIECE  # bytes of the calibration's stream
TRIPS = 1000
TIMES = 5  # that each is measured
# That are trained: in the first ones nodes touch their memory for the first time, of which the model knows nothing.
EPOCHS = {"dsgd": 12, "complex": 24, "word2vec": 6}
FEWEST = 6  # of other applications
CLOSE = 0.2  # how far a prediction may be off


@dataclass(frozen=True)
class Compared:
    """A training: seconds of an epoch, the part of local accesses, and seconds that all nodes computed in an epoch."""

    app: str
    nodes: int
    management: str
    measured: float
    predicted: float
    share_local: float
    predicted_local: float
    core_seconds: float
    predicted_core_seconds: float

    @property
    def is_close(self) -> bool:
        """Whether the time of an epoch was predicted well enough."""
        return abs(self.predicted / self.measured - 1) <= CLOSE


@dataclass(frozen=True)
class Relay:
    """What links between hosts of this machine take, measured without the applications.

    Attributes
    ----------
    added : float
        Seconds that the relay adds to a packet's way.
    rate : float
        Bits per second of all that it carries.
    packet, single : float
        Seconds of a processor that the relay takes for a packet of a stream, with what confirms it, and for a small
        one.
    message, byte : float
        Seconds of a processor by which each end computes longer for a small message, and for a byte, than on a
        loopback.
    """

    added: float
    rate: float
    packet: float
    single: float
    message: float
    byte: float


@dataclass(frozen=True)
class Computed:
    """What both ends of a connection compute: for a message and its answer, and for a byte."""

    trip: float
    byte: float


def computed(near: socket.socket, far: socket.socket) -> Computed:
    """Measure it."""
    began = time.process_time()
    round_trip(near, far, TRIPS)
    between = time.process_time()
    stream(near, far, STREAM)
    return Computed((between - began) / TRIPS, (time.process_time() - between) / STREAM)


def measured_relay() -> Relay:
    """Measure it by round trips and streams; the best of some, as nobody else should use the machine."""
    seen = [calibrate(Link(LINK.delay), quick=False) for _ in range(TIMES)]
    with connected("127.0.0.1") as (near, far):
        loopback = [computed(near, far) for _ in range(TIMES)]
    with network(2, Link(LINK.delay)) as made:
        one, other = made.hosts
        with connected(one.address, one, other) as (near, far):
            link = [computed(near, far) for _ in range(TIMES)]
    trip = statistics.median(one.trip for one in link) - statistics.median(one.trip for one in loopback)
    byte = statistics.median(one.byte for one in link) - statistics.median(one.byte for one in loopback)
    return Relay(
        added=max(min(one.added for one in seen), 0.0) / 2,
        rate=max(one.rate for one in seen),
        packet=min(one.passed.core_seconds for one in seen) / (STREAM / MTU),
        single=min(single() for _ in range(TIMES)),
        message=max(trip, 0.0) / 4,
        byte=max(byte, 0.0) / 2,
    )


def single() -> float:
    """Return the seconds of a processor that the relay takes for a small packet, where several hosts send."""
    with network(4, Link(LINK.delay)) as made, ExitStack() as stack, ThreadPoolExecutor() as pool:
        pairs = itertools.permutations(made.hosts, 2)
        ends = [stack.enter_context(connected(one.address, one, other)) for one, other in pairs]
        list(pool.map(lambda pair: round_trip(pair[0], pair[1], TRIPS), ends))
    return made.passed.core_seconds / made.passed.passed


def on_this_machine(run: Run, link: Link, relay: Relay) -> tuple[Run, float]:
    """Return a run as the hosts of this machine do it, in seconds of the machine, and the slowness of these hosts.

    A host's threads may compute as much as its group, then all wait for the next period. Links are slowed down; the
    relay carries what all send.
    """
    slowness = slowness_of(run.nodes, PROCESSORS)
    slow = Link(link.delay * slowness + max(relay.added - relay.single, 0.0), link.rate / slowness)
    io, system = run.costs.io, run.costs.system + relay.message
    costs = replace(run.costs, io=replace(io, byte=io.byte + relay.byte), system=system)
    carried = replace(run, shared_rate=relay.rate, shared_once=relay.single, packet=(MTU - HEADERS, HEADERS))
    shared = replace(carried, link=slow, costs=costs)
    quota, period = quota_and_period(PROCESSORS / slowness)
    machine = os.cpu_count() or 1
    mine = replace(shared, processors=PROCESSORS, quota=1e-6 * quota, period=1e-6 * period, machine=machine)
    return mine, slowness


def predicted(run: Run, link: Link, relay: Relay) -> tuple[float, Seen, float]:
    """Return the seconds of an epoch, what was seen, and the seconds that all nodes computed in it.

    The relay has processors that are promised to nobody. Where it needs more, hosts get less. How much is known only
    when it is known what they send: so this simulates twice then.
    """
    assert isinstance(run.work, Recorded)
    slowed, slowness = on_this_machine(run, link, relay)
    seen = simulate(slowed)
    cores = float(os.cpu_count() or 1)
    computed = run.nodes * (2 * relay.single * seen.batches.mean + relay.packet * seen.bytes.mean / MTU)
    used = computed / (seen.barriers[-1] - seen.barriers[0])
    if run.nodes > 1 and used > SPARE * cores:
        slowed = replace(slowed, slowness=(1 - SPARE) * cores / max(cores - used, cores / 2))
        seen = simulate(slowed)
    spent = (seen.server_seconds.mean + seen.socket_seconds.mean + seen.worker_seconds.mean) / slowed.slowness
    seconds = seen.epochs(run.work.stages, apart=True)[-1] / slowness
    return seconds, seen, spent * run.nodes / run.work.epochs


def compare(apps: Sequence[str], nodes: Sequence[int], ways: Sequence[str]) -> Iterator[Compared]:
    """Train and predict."""
    relay = measured_relay()
    for app in apps:
        task = APPS[app].large()
        for count in nodes:
            with tempfile.TemporaryDirectory() as directory:
                work = record(task, count, Path(directory))
                costs = load_costs()
                if count > 1:
                    found = cold.measured(task, count, 2 * LINK.delay * slowness_of(count, PROCESSORS))
                    work, costs = replace(work, cold=found.seconds), costs.times(found.calls)
                for way in ways if count > 1 else ways[:1]:
                    epochs, _ = train_on_hosts(
                        task, management=way, nodes=count, epochs=EPOCHS.get(app, FEWEST), link=LINK
                    )
                    run = Run(nodes=count, management=way, work=work, costs=costs)
                    seconds, seen, core_seconds = predicted(run, LINK, relay)
                    yield Compared(
                        app,
                        count,
                        way,
                        statistics.median(epoch.seconds for epoch in epochs[1:]),
                        seconds,
                        statistics.mean(epoch.share_local for epoch in epochs[1:]),
                        seen.share_local,
                        statistics.median(epoch.core_seconds for epoch in epochs[1:]),
                        core_seconds,
                    )


def row_of(one: Compared) -> Row:
    """Return a comparison as a row."""
    return Row(
        table=f"simulated and trained on hosts, {LINK}: time of an epoch",
        what=f"{one.app}, {one.nodes} hosts, {one.management}: {one.predicted_local:.1%} local (trained: "
        f"{one.share_local:.1%}), {one.predicted_core_seconds:.2f} s of cores ({one.core_seconds:.2f} s)",
        ours=one.predicted,
        unit="s",
        peer="trained",
        theirs=one.measured,
    )


def main() -> None:
    """Compare as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--apps", nargs="+", default=APPLICATIONS, choices=list(APPS))
    parser.add_argument("--nodes", nargs="+", type=int, default=[1, 2, 4])
    parser.add_argument("--management", nargs="+", default=list(MANAGEMENTS), choices=list(MANAGEMENTS))
    options = parser.parse_args()
    compared = []
    for one in compare(options.apps, options.nodes, options.management):
        compared.append(one)
        print(
            f"{one.app} {one.nodes} {one.management}: {one.predicted:.3f} s, trained {one.measured:.3f} s",
            flush=True,
        )
    print_tables([row_of(one) for one in compared])
    print(f"{sum(one.is_close for one in compared)} of {len(compared)} within {CLOSE:.0%}")
    PLACE.parent.mkdir(parents=True, exist_ok=True)
    PLACE.write_text(json.dumps([asdict(one) for one in compared], indent=2) + "\n")


if __name__ == "__main__":
    main()
