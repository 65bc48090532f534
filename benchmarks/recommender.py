"""A recommender in two processes: rows and layers at a server, beside TorchRec's tables and DistributedDataParallel.

Both processes have all models, and train them in turns. Each has some bags of ids that are summed, and two layers
behind them. TorchRec's plain tables are the same in both processes, so that each step sums gradients of whole tables;
of its fused ones each process has half. TorchRec is measured where it is installed, which `pip install --no-deps
torchrec fbgemm-gpu-cpu tensordict torchmetrics pyre-extensions pyvers` does, in the versions for the torch at hand.
"""

from __future__ import annotations

import itertools
import multiprocessing
import statistics
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.util import find_spec
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import pyps
from benchmarks.harness import Row, collector_paused

if TYPE_CHECKING:
    import torch

    Features = dict[str, torch.Tensor]
    Step = Callable[[Features, torch.Tensor], None]

NAME = "recommender"
PROCESSES, BATCH, IDS, HIDDEN, RATE = 2, 512, 2, 128, 0.1
TABLES = [f"table{number}" for number in range(8)]
BATCHES = 16  # that take turns
SIZES = ((10_000, 16), (100_000, 64))  # rows of each table, and their elements
OURS = {"layers in DistributedDataParallel": False, "layers at the server": True}
PEERS = {"TorchRec": "data_parallel", "TorchRec, fused": "table_wise"}
TARGETS = {"TorchRec": ">= 2x"}
TURNS, STEPS = 5, 40  # of each turn; few for `quick`
TIMEOUT = 300.0


@dataclass(frozen=True)
class Plan:
    """What one process trains: where it meets the other one, which it is, the sizes of tables, and for how long."""

    directory: str
    rank: int
    num: int
    dim: int
    quick: bool


def run(quick: bool) -> list[Row]:
    """Measure; `quick` only sees that it works."""
    return [row for size in SIZES[: 1 if quick else None] for row in rows(*size, quick)]


def rows(num: int, dim: int, quick: bool) -> Iterator[Row]:
    """Train in both processes, each of which is a node."""
    with ExitStack() as stack:
        directory = stack.enter_context(TemporaryDirectory(prefix="moontide-"))
        pool = stack.enter_context(multiprocessing.get_context("spawn").Pool(PROCESSES))
        plans = [Plan(directory, rank, num, dim, quick) for rank in range(PROCESSES)]
        found = pool.map_async(train, plans, chunksize=1).get(TIMEOUT)
    rates = {name: rate([seconds[name] for seconds in found], quick) for name in found[0]}
    for ours, peer in itertools.product(OURS, [name for name in PEERS if name in rates] or [""]):
        yield Row(
            table=f"{NAME}: {len(TABLES)} tables of {num:,} x {dim}, {PROCESSES} processes, a node each",
            what=ours,
            ours=rates[ours],
            unit="samples/s",
            peer=peer,
            theirs=rates.get(peer),
            target=TARGETS.get(peer, ""),
        )


def rate(seconds: list[list[float]], quick: bool) -> float:
    """Return the median of the samples per second that the processes had together in a turn."""
    count = steps(quick) * BATCH * PROCESSES
    return float(statistics.median(count / max(turn) for turn in zip(*seconds, strict=True)))


def steps(quick: bool) -> int:
    """Return how many steps a turn has."""
    return 1 if quick else STEPS


def train(plan: Plan) -> dict[str, list[float]]:
    """Train all models in turns, as one of the processes; return the seconds of each turn."""
    import torch
    import torch.distributed as dist

    torch.set_num_threads(1)
    torch.manual_seed(plan.rank)
    store = dist.FileStore(f"{plan.directory}/store", PROCESSES)  # type: ignore[attr-defined]
    parts = [dist.PrefixStore(name, store) for name in ("gloo", "pyps")]  # type: ignore[attr-defined]
    dist.init_process_group("gloo", store=parts[0], rank=plan.rank, world_size=PROCESSES)
    with ExitStack() as stack:
        stack.callback(dist.destroy_process_group)
        node = stack.enter_context(
            pyps.init(1, rendezvous=parts[1], num_nodes=PROCESSES, rank=plan.rank, timeout=TIMEOUT)
        )
        kv = stack.enter_context(node.worker())
        models = {name: at_server(stack, kv, plan, layers) for name, layers in OURS.items()}
        if find_spec("torchrec"):
            models |= {name: with_torchrec(plan, sharding) for name, sharding in PEERS.items()}
        samples = [sample(plan.num) for _ in range(BATCHES)]
        seconds: dict[str, list[float]] = {name: [] for name in models}
        with collector_paused():
            for _, (name, step) in itertools.product(range(1 if plan.quick else TURNS), models.items()):
                step(*samples[0])
                dist.barrier()
                seconds[name].append(timed(step, samples, steps(plan.quick)))
        dist.barrier()
    return seconds


def timed(step: Step, samples: list[tuple[Features, torch.Tensor]], count: int) -> float:
    """Make steps; return their seconds."""
    begin = time.perf_counter()
    for features, targets in itertools.islice(itertools.cycle(samples), count):
        step(features, targets)
    return time.perf_counter() - begin


def sample(num: int) -> tuple[Features, torch.Tensor]:
    """Return a batch: for each table the ids of each bag, and what is to be predicted."""
    import torch

    return {table: torch.randint(num, (BATCH, IDS)) for table in TABLES}, torch.rand(BATCH)


def layers_behind(dim: int) -> torch.nn.Module:
    """Return what predicts from the sums of all bags."""
    from torch import nn

    return nn.Sequential(nn.Linear(len(TABLES) * dim, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1))


def loss(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return what is made smaller."""
    from torch.nn.functional import binary_cross_entropy_with_logits

    return binary_cross_entropy_with_logits(outputs[:, 0], targets)


def at_server(stack: ExitStack, kv: pyps.Worker, plan: Plan, layers_too: bool) -> Step:
    """Return a step of a model whose rows are at the server, and its layers as well or in both processes."""
    import torch
    from torch.nn.parallel import DistributedDataParallel

    config = pyps.nn.EmbeddingConfig(plan.num, plan.dim)
    bags = pyps.nn.EmbeddingCollection(
        dict.fromkeys(TABLES, config), kv, name=f"bags{layers_too}", optimizer=f"adagrad:lr={RATE}"
    )
    layers: Any = layers_behind(plan.dim)
    optimizer = None
    if layers_too:
        adagrad = pyps.optim.Adagrad(lr=RATE)
        at = pyps.nn.Distributed(layers, kv, optimizer=adagrad, rank=plan.rank, workers=PROCESSES)
        layers = stack.enter_context(at)
    else:
        layers = DistributedDataParallel(layers)
        optimizer = torch.optim.Adagrad(layers.parameters(), lr=RATE)

    def step(features: Features, targets: torch.Tensor) -> None:
        sums = bags(features)
        error = loss(layers(torch.cat([sums[table] for table in TABLES], 1)), targets)
        if optimizer:
            optimizer.zero_grad()
        torch.autograd.backward(error)
        if optimizer:
            optimizer.step()

    return step


def with_torchrec(plan: Plan, sharding: str) -> Step:
    """Return a step of the model with TorchRec's tables, which are the same in all processes or divided among them."""
    import torch
    import torch.distributed as dist
    from torchrec import EmbeddingBagCollection, EmbeddingBagConfig, KeyedJaggedTensor
    from torchrec.distributed.embeddingbag import EmbeddingBagCollectionSharder
    from torchrec.distributed.model_parallel import DistributedModelParallel
    from torchrec.distributed.planner import EmbeddingShardingPlanner, Topology
    from torchrec.distributed.planner.types import ParameterConstraints
    from torchrec.optim.apply_optimizer_in_backward import apply_optimizer_in_backward
    from torchrec.optim.optimizers import in_backward_optimizer_filter

    is_fused = sharding == "table_wise"

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            configs = [
                EmbeddingBagConfig(
                    name=name, feature_names=[name], num_embeddings=plan.num, embedding_dim=plan.dim
                )
                for name in TABLES
            ]
            self.bags = EmbeddingBagCollection(configs, device=torch.device("meta"))
            self.layers = layers_behind(plan.dim)

        def forward(self, features: Any) -> torch.Tensor:
            result: torch.Tensor = self.layers(self.bags(features).values())
            return result

    model = Model()
    if is_fused:
        apply_optimizer_in_backward(torch.optim.Adagrad, model.bags.parameters(), {"lr": RATE})
    kernel = "fused" if is_fused else "dense"
    constraint = ParameterConstraints(sharding_types=[sharding], compute_kernels=[kernel])
    topology = Topology(world_size=PROCESSES, compute_device="cpu")
    planner = EmbeddingShardingPlanner(topology=topology, constraints=dict.fromkeys(TABLES, constraint))
    sharders: list[Any] = [EmbeddingBagCollectionSharder()]
    placed = planner.collective_plan(model, sharders, dist.GroupMember.WORLD)
    spread = DistributedModelParallel(model, device=torch.device("cpu"), plan=placed, sharders=sharders)
    rest = [parameter for _, parameter in in_backward_optimizer_filter(spread.named_parameters())]
    optimizer = torch.optim.Adagrad(rest, lr=RATE)
    lengths = torch.full((len(TABLES) * BATCH,), IDS)

    def step(features: Features, targets: torch.Tensor) -> None:
        values = torch.cat([features[table].flatten() for table in TABLES])
        error = loss(spread(KeyedJaggedTensor(keys=TABLES, values=values, lengths=lengths)), targets)
        optimizer.zero_grad()
        torch.autograd.backward(error)
        optimizer.step()

    return step
