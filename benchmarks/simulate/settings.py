"""What is simulated: a cluster, its links, what workers do, and what each step costs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks.network import LINK
from benchmarks.network.hosts import Link
from examples.apps.management import MANAGEMENTS
from pyps.server import TECHNIQUES

COSTS = Path(__file__).with_name("costs.json")
ETHERNET = (
    1460,
    78,
)  # bytes of a packet's content, and of all around it: TCP, IP, and Ethernet with its gaps
KINDS = {  # of messages, by their numbers on the wire, docs/wire.md
    4: "request",
    5: "answer",
    6: "localize",
    7: "relocate",
    8: "transfer",
    9: "want",
    10: "delta",
    11: "refresh",
    12: "ended",
    13: "intent",
    23: "settle",
    24: "round",
    25: "taken",
    26: "moves",
}


@dataclass(frozen=True)
class Cost:
    """Seconds of a processor: for one thing, for each key and for each byte of it."""

    once: float = 0.0
    key: float = 0.0
    byte: float = 0.0


@dataclass(frozen=True)
class Costs:
    """What things take, in seconds; `python -m benchmarks.simulate.calibration` measures all of it.

    Attributes
    ----------
    taken : dict of Cost
        What a server does with a message, by its kind; "other": of all kinds that are not named. The bytes are those of
        the message and of what it answers at once.
    turn : Cost
        A server's round, with the keys and bytes that it sends in it.
    local, asked : Cost
        Of a worker, for keys of a call that are on its node, and for those of which it asks others, with the answer.
    tell : float
        Of a worker, for each key that it tells its node of.
    call : float
        Of a worker, for each call: from Python into libps and back.
    send, receive : Cost
        Of a message, by the thread that gives it to ZeroMQ or takes it from there.
    io : Cost
        Of a message, by a thread of ZeroMQ, on either side.
    system : float
        Of such a thread, for each batch of messages that it sends or receives by one call of the system.
    sleep : float
        Of a thread, each time it goes to sleep and is woken.
    wake : float
        From when a sleeping thread has something to do until it does it, besides what threads compute for that.
    """

    taken: dict[str, Cost]
    turn: Cost
    local: Cost
    asked: Cost
    send: Cost
    receive: Cost
    io: Cost
    system: float
    call: float
    tell: float
    sleep: float
    wake: float

    def lines(self) -> Iterator[str]:
        """Return them as the simulator reads them."""
        costs = {name: getattr(self, name) for name in ("turn", "local", "asked", "send", "receive", "io")}
        costs["taken"] = self.taken["other"]
        costs |= {f"taken.{kind}": self.taken[kind] for kind in KINDS.values()}
        for name, cost in costs.items():
            for part, seconds in asdict(cost).items():
                yield f"{name}.{part} {seconds!r}"
        for name in ("system", "call", "tell", "sleep", "wake"):
            yield f"{name} {getattr(self, name)!r}"

    def times(self, factor: float) -> Costs:
        """Return them with what the store, the server and workers' calls compute so many times as long."""

        def longer(cost: Cost) -> Cost:
            return Cost(factor * cost.once, factor * cost.key, factor * cost.byte)

        return replace(
            self,
            taken={kind: longer(cost) for kind, cost in self.taken.items()},
            turn=longer(self.turn),
            local=longer(self.local),
            asked=longer(self.asked),
        )

    def save(self, path: Path = COSTS) -> None:
        """Write them, by three digits."""
        text = json.dumps(asdict(self), default=float)
        rounded = json.loads(text, parse_float=lambda number: float(f"{float(number):.3g}"))
        path.write_text(json.dumps(rounded, indent=2) + "\n")


def load_costs(path: Path = COSTS) -> Costs:
    """Return the costs that were measured."""
    content = json.loads(path.read_text())
    taken = {kind: Cost(**cost) for kind, cost in content.pop("taken").items()}
    others: dict[str, Any] = {
        name: Cost(**value) if isinstance(value, dict) else value for name, value in content.items()
    }
    return Costs(taken=taken, **others)


@dataclass(frozen=True)
class Zipf:
    """Accesses drawn by Zipf's law, in batches as the applications have them.

    Attributes
    ----------
    exponent : float
    batches : int
        Of each worker in an epoch.
    batch_keys : int
        Drawn for a batch; those that come twice count once.
    ahead : int
        Batches between telling and using.
    compute : float
        Seconds between a batch's pull and its push.
    written : float
        The part of the keys that is pushed.
    epochs : int
    """

    exponent: float = 1.0
    batches: int = 20
    batch_keys: int = 1000
    ahead: int = 4
    compute: float = 0.005
    written: float = 1.0
    epochs: int = 2


@dataclass(frozen=True)
class Recorded:
    """What workers of an application did: see `recording`.

    Attributes
    ----------
    base : str
        What the names of the files begin with.
    workers : int
    lengths : str
        The file with each key's length.
    keys : int
    stages : int
        In an epoch.
    epochs : int
        How often the one that was recorded is done.
    cold : float
        Seconds that a worker computes longer after it has waited for another node, as its caches are cold then.
    capacity : int
        Different keys, where they may be any numbers; else 0. Then the lengths are those of the classes of keys.
    used : int
        Different keys of the worker that uses the most.
    """

    base: str
    workers: int
    lengths: str
    keys: int
    stages: int
    epochs: int = 2
    cold: float = 0.0
    capacity: int = 0
    used: int = 0

    def capacity_of(self, nodes: int, workers: int) -> int:
        """Return for how many keys each node needs room: those that its workers use, and twice its share of all."""
        return min(self.capacity, workers * self.used + 2 * self.capacity // nodes)


@dataclass(frozen=True)
class Run:
    """One simulation.

    Attributes
    ----------
    nodes, workers, processors : int
        The last two of each node.
    quota, period : float
        Seconds that a node may compute in each period of so many seconds; 0: any number.
    machine : int
        Processors that all nodes share; 0: each has its own.
    keys, value_length : int
        Values are float32. What was recorded has its own.
    capacity : int
        0: keys are a range. Else they may be any numbers, only those in use take memory, and a node has room for so
        many.
    management : str
        As in `examples.apps.management`.
    link : Link
    shared_rate : float
        Bits per second of all links together.
    shared_once : float
        Seconds that these take for a batch of messages besides, and as many for what confirms it.
    packet : tuple of int
        Bytes in each of a link's packets, and around them.
    work : Zipf or Recorded
    costs : Costs
    slowness : float
        How many times as long all takes that is computed.
    seed : int
    """

    nodes: int = 2
    workers: int = 1
    processors: int = 2
    quota: float = 0.0
    period: float = 1.0
    machine: int = 0
    keys: int = 10_000
    value_length: int = 10
    capacity: int = 0
    management: str = "intent"
    link: Link = LINK
    shared_rate: float = float("inf")
    shared_once: float = 0.0
    packet: tuple[int, int] = ETHERNET
    work: Zipf | Recorded = Zipf()
    costs: Costs = field(default_factory=load_costs)
    slowness: float = 1.0
    seed: int = 1

    def lines(self) -> Iterator[str]:
        """Return the settings as the simulator reads them."""
        management = MANAGEMENTS[self.management]
        zipf = self.work if isinstance(self.work, Zipf) else Zipf()
        recorded = self.work if isinstance(self.work, Recorded) else Recorded("-", 0, "-", self.keys, 1)
        numbers = {
            "nodes": self.nodes,
            "workers": self.workers,
            "processors": self.processors,
            "quota": self.quota,
            "period": self.period,
            "machine": self.machine,
            "keys": recorded.keys,
            "value_length": self.value_length,
            "capacity": self.capacity or recorded.capacity_of(self.nodes, self.workers),
            "management": list(MANAGEMENTS).index(self.management),
            "techniques": TECHNIQUES.index(management.techniques),
            "delay": self.link.delay,
            "rate": self.link.rate,
            "shared_rate": self.shared_rate,
            "shared_once": self.shared_once,
            "packet": self.packet[0],
            "packet_overhead": self.packet[1],
            "slowness": self.slowness,
            "seed": self.seed,
            "zipf": zipf.exponent,
            "batches": zipf.batches,
            "batch_keys": zipf.batch_keys,
            "ahead": zipf.ahead,
            "compute": zipf.compute,
            "written": zipf.written,
            "epochs": self.work.epochs,
            "cold": recorded.cold,
            "recorded": recorded.workers,
            "trace": recorded.base,
            "lengths": recorded.lengths,
        }
        yield from (f"{name} {value}" for name, value in numbers.items())
        yield from self.costs.lines()

    def on(self, nodes: int) -> Run:
        """Return the same with another number of nodes."""
        return replace(self, nodes=nodes)
