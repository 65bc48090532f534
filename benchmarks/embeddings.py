"""Embeddings whose rows are at a server, beside torch's own in one process, and two processes beside one."""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial

import numpy as np
import torch

import pyps
from benchmarks.harness import Row, in_threads, rates_in_turns, seconds_per_call
from benchmarks.nodes.children import Child, child, serve
from benchmarks.nodes.in_process import worker_of_first

NAME = "embeddings"
BATCH = 4096  # ids
SIZES = ((100_000, 16), (1_000_000, 64))  # rows, and their elements
DRAWS = ("uniform", "Zipf")
BATCHES = 16  # that take turns
EXPONENT = 1.1  # of Zipf's law
STALENESS = 32  # lookups
DELAY, COMPUTING = 0.001, 0.01  # seconds: of messages between nodes; of a model that is looked ahead for
# Our optimizer, and the one of torch that takes sparse gradients.
OPTIMIZERS: dict[str, tuple[str, Callable[..., torch.optim.Optimizer]]] = {
    "Adagrad": ("adagrad:lr=0.1", torch.optim.Adagrad),
    "SparseAdam": ("adam:lr=0.1", torch.optim.SparseAdam),
}


def run(quick: bool) -> list[Row]:
    """Measure everything; `quick` only sees that it works."""
    sizes = SIZES[: 1 if quick else None]
    with one_thread():
        return [
            *(row for size in sizes for draw in DRAWS for row in beside_torch(*size, draw, quick)),
            *(row for size in sizes for row in collections(*size, quick)),
            *(row for draw in DRAWS for row in looking_ahead(draw, quick)),
            *(row for size in sizes for row in staying(*size, quick)),
            *(row for size in sizes for row in two_processes(*size, quick)),
        ]


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch compute in one thread: with several, its sparse optimizers are slower where others work, too."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def batches(num: int, draw: str, seed: int = 1) -> Iterator[torch.Tensor]:
    """Return batches of ids, again and again; frequent ids are anywhere among the rows."""
    random = np.random.default_rng(seed)
    if draw == "uniform":
        ids = random.integers(num, size=(BATCHES, BATCH))
    else:
        ranks = random.zipf(EXPONENT, size=(BATCHES, BATCH)) % num
        ids = np.random.default_rng(0).permutation(num)[ranks]
    return itertools.cycle(torch.from_numpy(ids).unbind())


def training(
    module: torch.nn.Module, ids: Iterator[torch.Tensor], optimizer: torch.optim.Optimizer | None = None
) -> Callable[[], None]:
    """Return a step: forward, backward and update."""
    weight = torch.linspace(-1, 1, BATCH)[:, None]

    def step() -> None:
        (module(next(ids)) * weight).sum().backward()
        if optimizer is not None:
            optimizer.step()
            optimizer.zero_grad()

    return step


def beside_torch(num: int, dim: int, draw: str, quick: bool) -> Iterator[Row]:
    """Time steps of one process: the server is its own."""
    for name, (ours, theirs) in OPTIMIZERS.items():
        with (
            pyps.Server(1) as server,
            server.worker() as kv,
            torch.sparse.check_sparse_tensor_invariants(False),  # type: ignore[no-untyped-call]
        ):
            module = pyps.nn.Embedding(num, dim, kv, optimizer=ours)
            peer = torch.nn.Embedding(num, dim, sparse=True)
            mine, its = seconds_per_call(
                training(module, batches(num, draw)),
                training(peer, batches(num, draw), theirs(peer.parameters(), lr=0.1)),
                quick=quick,
            )
        yield Row(
            table=f"{NAME}: forward, backward and update of {BATCH} ids, one process",
            what=f"{num:,} x {dim}, {draw} ids",
            ours=1e6 * mine,
            unit="us",
            peer=f"torch.nn.Embedding, {name}",
            theirs=1e6 * its,
            target="<= 1.3x",
        )


def collections(num: int, dim: int, quick: bool, count: int = 8) -> Iterator[Row]:
    """Time bags of several embeddings, whose rows are on two nodes: by one request, and by a request for each."""
    names = [f"feature{number}" for number in range(count)]
    bags = batches(num, "Zipf")
    with ExitStack() as stack:
        kv = worker_of_first(stack, 2, 1)
        config = pyps.nn.EmbeddingConfig(num // count, dim)
        one = pyps.nn.EmbeddingCollection(dict.fromkeys(names, config), kv, optimizer="adagrad:lr=0.1")
        each = [
            pyps.nn.EmbeddingBag(num // count, dim, kv, name=name, mode="sum", optimizer="adagrad:lr=0.1")
            for name in names
        ]

        def ids() -> Sequence[torch.Tensor]:
            return (next(bags) % (num // count)).view(count, -1, 2).unbind()

        def together() -> None:
            backward(one(dict(zip(names, ids(), strict=True))).values())

        def apart() -> None:
            backward(module(part) for module, part in zip(each, ids(), strict=True))

        def backward(found: Iterable[torch.Tensor]) -> None:
            torch.autograd.backward(torch.stack([*found]).sum())

        ours, theirs = seconds_per_call(together, apart, quick=quick)
    yield Row(
        table=f"{NAME}: {count} of them, of {BATCH} ids together, on two nodes over loopback",
        what=f"EmbeddingCollection, {num:,} x {dim} together",
        ours=1e6 * ours,
        unit="us",
        peer=f"{count} EmbeddingBags",
        theirs=1e6 * theirs,
    )


def looking_ahead(draw: str, quick: bool) -> Iterator[Row]:
    """Time what is left of a pull from a node that is `DELAY` away, when a loader is looked ahead in."""
    num, dim = SIZES[0]
    count = 20 if quick else 200
    with ExitStack() as stack:
        kv = worker_of_first(stack, 2, 1, endpoint=f"memory://*?delay={DELAY}")
        module = pyps.nn.Embedding(num, dim, kv, asynchronous=True, optimizer="adagrad:lr=0.1")
        weight = torch.linspace(-1, 1, BATCH)[:, None]
        ids = [*itertools.islice(batches(num, draw), count)]
        keys = itertools.cycle(torch.unique(batch) for batch in ids)
        (pull,) = seconds_per_call(lambda: module.kv.pull(next(keys)), quick=quick)
        loader = pyps.data.prefetch(ids, module)
        for batch in loader:
            rows = module(batch)
            time.sleep(COMPUTING)  # the model
            (rows * weight).sum().backward()
        module.wait()
        counts = loader.counts[module]
    yield Row(
        table=f"{NAME}: forward of {BATCH} ids on two nodes, {1000 * DELAY:g} ms from each other",
        what=f"wait for rows, {num:,} x {dim}, {draw} ids, {counts.early / counts.rows:.0%} ahead",
        ours=1e6 * counts.seconds / count,
        unit="us",
        peer="pull when they are used",
        theirs=1e6 * pull,
        target="<= 0.1x",
    )


def staying(num: int, dim: int, quick: bool) -> Iterator[Row]:
    """Time steps whose rows come to a device, where some of them stay for a few lookups, and without that."""
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    cache = pyps.nn.DeviceCache(num // 10, staleness=STALENESS)
    with ExitStack() as stack:
        kv = worker_of_first(stack, 2, 1)
        modules = [
            pyps.nn.Embedding(num, dim, kv, name=name, optimizer="adagrad:lr=0.1", device=device, cache=its)
            for name, its in (("cached", cache), ("pulled", None))
        ]
        forwards = [partial(looked_up, module, batches(num, "Zipf")) for module in modules]
        ours, theirs = seconds_per_call(*forwards, quick=quick)
    yield Row(
        table=f"{NAME}: forward of {BATCH} ids to a device ({device.type}), on two nodes over loopback",
        what=f"{num:,} x {dim}, Zipf ids, a tenth of the rows stays for {STALENESS} lookups",
        ours=1e6 * ours,
        unit="us",
        peer="pull all each time",
        theirs=1e6 * theirs,
    )


def looked_up(module: pyps.nn.Embedding, ids: Iterator[torch.Tensor]) -> None:
    """Look a batch up, and wait for a GPU."""
    module(next(ids))
    if module.device is not None and module.device.type == "cuda":
        torch.cuda.synchronize(module.device)


def two_processes(num: int, dim: int, quick: bool) -> Iterator[Row]:
    """Let one and two processes train with all they have, at the server of this one."""
    for draw in DRAWS:
        with pyps.Server(1) as server, ExitStack() as stack:
            arguments = (server.address, str(num), str(dim), draw)
            workers = [
                stack.enter_context(child(__name__, *arguments, str(seed), OMP_NUM_THREADS="1"))
                for seed in (1, 2)
            ]
            one, two = rates_in_turns(
                *(partial(rate, workers[:count]) for count in (1, 2)),
                quick=quick,
            )
        yield Row(
            table=f"{NAME}: forward, backward and update of {BATCH} ids, two processes against one",
            what=f"{num:,} x {dim}, {draw} ids, Adagrad",
            ours=two,
            unit="steps/s",
            peer="one process",
            theirs=one,
            target=">= 1.7x",
        )


def rate(workers: list[Child], seconds: float) -> float:
    """Have processes train for some seconds at once; return the steps per second of all."""
    rates = [0.0] * len(workers)

    def ask(number: int) -> None:
        rates[number] = workers[number].ask("train", seconds)

    in_threads(len(workers), ask)
    return sum(rates)


def be_a_worker(address: str, num: int, dim: int, draw: str, seed: int) -> None:
    """In a process of its own: train when asked to."""
    with pyps.attach(address) as node, node.worker() as kv:
        module = pyps.nn.Embedding(num, dim, kv, optimizer="adagrad:lr=0.1")
        step = training(module, batches(num, draw, seed))
        step()

        def train(seconds: float) -> float:
            start, steps = time.perf_counter(), 0
            while (taken := time.perf_counter() - start) < seconds:
                step()
                steps += 1
            return steps / taken

        serve({"train": train})


if __name__ == "__main__":
    _, where, rows, length, how, number = sys.argv
    be_a_worker(where, int(rows), int(length), how, int(number))
