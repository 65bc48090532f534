"""Dense models: the digits network in two processes, with its parameters at the server and in DistributedDataParallel.

Both processes have all models, and train them in turns: at the server in each mode, and with DistributedDataParallel
over gloo, which is always in step. The accuracy is that of the test samples after all turns.
"""

from __future__ import annotations

import multiprocessing
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np

import pyps
from benchmarks.harness import Row, collector_paused
from moontide.demo.data import Digits, load_digits

if TYPE_CHECKING:
    import torch

    Step = Callable[[torch.Tensor, torch.Tensor], None]

NAME = "dense models"
PROCESSES, BATCH, RATE = 2, 16, 0.1
PEER = "DistributedDataParallel"
MODES: dict[str, dict[str, Any]] = {
    "async": {},
    "bounded": {"mode": "bounded", "staleness": 4},
    "sync": {"mode": "sync"},
}
TURNS, EPOCHS = 7, 5  # of each turn; few for `quick`
TIMEOUT = 120.0


@dataclass(frozen=True)
class Measured:
    """What one process measured of one model: seconds of each turn, samples of a turn, accuracy in the end."""

    seconds: list[float]
    samples: int
    accuracy: float


def run(quick: bool) -> list[Row]:
    """Measure on one node and on two; `quick` only sees that it works."""
    return [row for nodes in (1, PROCESSES) for row in rows(nodes, quick)]


def rows(nodes: int, quick: bool) -> Iterator[Row]:
    """Train in both processes, on one node or on one each."""
    with ExitStack() as stack:
        directory = stack.enter_context(TemporaryDirectory(prefix="moontide-"))
        address = stack.enter_context(pyps.Server(10)).address if nodes == 1 else None
        pool = stack.enter_context(multiprocessing.get_context("spawn").Pool(PROCESSES))
        plan = [(rank, directory, address, quick) for rank in range(PROCESSES)]
        found = pool.starmap_async(train, plan).get(TIMEOUT)
    table = f"{NAME}: digits, {PROCESSES} processes on {nodes} node{'s' * (nodes > 1)}"
    theirs = [one[PEER] for one in found]
    for mode in MODES:
        ours = [one[mode] for one in found]
        yield Row(
            table=table,
            what=mode,
            ours=rate(ours),
            unit="samples/s",
            peer=PEER,
            theirs=rate(theirs),
            target=">= 0.9x" if mode == "async" else "",
        )
        yield Row(
            table=table,
            what=f"{mode}, accuracy",
            ours=100 * ours[0].accuracy,
            unit="%",
            peer=PEER,
            theirs=100 * theirs[0].accuracy,
            target=">= 0.98x",
        )


def rate(of_each: list[Measured]) -> float:
    """Return the median of the samples per second that the processes had together in a turn."""
    turns = zip(*(one.seconds for one in of_each), strict=True)
    return float(statistics.median(sum(one.samples for one in of_each) / max(seconds) for seconds in turns))


def train(rank: int, directory: str, address: str | None, quick: bool) -> dict[str, Measured]:
    """Train all models in turns, as one of the processes."""
    import torch
    import torch.distributed as dist
    from torch.nn.parallel import DistributedDataParallel

    from moontide.demo.torch_worker import network

    torch.set_num_threads(1)
    torch.manual_seed(0)
    store = dist.FileStore(f"{directory}/store", PROCESSES)  # type: ignore[attr-defined]
    parts = [dist.PrefixStore(name, store) for name in ("gloo", "pyps")]  # type: ignore[attr-defined]
    dist.init_process_group("gloo", store=parts[0], rank=rank, world_size=PROCESSES)
    first, digits = network().state_dict(), load_digits()
    samples = samples_of(digits, rank)
    models = {name: network() for name in (*MODES, PEER)}
    steps: dict[str, Step] = {}
    losses = torch.nn.NLLLoss()

    def at_server(model: pyps.nn.Distributed) -> Step:
        return lambda inputs, targets: losses(model(inputs), targets).backward()

    def with_ddp(model: torch.nn.Module, optimizer: torch.optim.Optimizer) -> Step:
        def step(inputs: torch.Tensor, targets: torch.Tensor) -> None:
            optimizer.zero_grad()
            losses(model(inputs), targets).backward()
            optimizer.step()

        return step

    with ExitStack() as stack:
        stack.callback(dist.destroy_process_group)
        node = stack.enter_context(
            pyps.attach(address)
            if address
            else pyps.init(10, rendezvous=parts[1], num_nodes=PROCESSES, rank=rank, timeout=TIMEOUT)
        )
        kv = stack.enter_context(node.worker())
        for name, model in models.items():
            model.load_state_dict(first)
            if name == PEER:
                optimizer = torch.optim.SGD(model.parameters(), lr=RATE)
                steps[name] = with_ddp(DistributedDataParallel(model), optimizer)
            else:
                options = {"name": name, "rank": rank, "workers": PROCESSES, **MODES[name]}
                ours = pyps.nn.Distributed(model, kv, optimizer=pyps.optim.SGD(lr=RATE), **options)
                steps[name] = at_server(stack.enter_context(ours))
        seconds: dict[str, list[float]] = {name: [] for name in models}
        turns, epochs = (1, 1) if quick else (TURNS, EPOCHS)
        with collector_paused():
            for _ in range(turns):
                for name, step in steps.items():
                    dist.barrier()
                    seconds[name].append(timed(step, samples, epochs))
        dist.barrier()
    count = epochs * sum(len(targets) for _, targets in samples)
    return {name: Measured(seconds[name], count, accuracy(model, digits)) for name, model in models.items()}


def accuracy(model: torch.nn.Module, digits: Digits) -> float:
    """Return the share of test samples whose class is the right one."""
    import torch

    with torch.no_grad():
        outputs = model(torch.from_numpy(digits.test_inputs)).numpy()
    return float((outputs.argmax(axis=1) == digits.test_targets).mean())


def samples_of(digits: Digits, rank: int) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Return the batches of an epoch of one process, as many as the other one has."""
    import torch

    count = len(digits.train_targets) // (PROCESSES * BATCH) * PROCESSES * BATCH
    order = np.random.default_rng(0).permutation(len(digits.train_targets))[:count][rank::PROCESSES]
    return [
        (torch.from_numpy(digits.train_inputs[chosen]), torch.from_numpy(digits.train_targets[chosen]))
        for chosen in np.split(order, len(order) // BATCH)
    ]


def timed(step: Step, samples: list[tuple[torch.Tensor, torch.Tensor]], epochs: int) -> float:
    """Make a step with each batch of each epoch; return the seconds."""
    begin = time.perf_counter()
    for _ in range(epochs):
        for inputs, targets in samples:
            step(inputs, targets)
    return time.perf_counter() - begin
