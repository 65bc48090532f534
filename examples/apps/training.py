"""The loop that the programs share: tell which keys come, pull their values, compute gradients, push what changes.

A key's value is a parameter and, of the same length, the sum of its squared gradients, with which AdaGrad
(Duchi, Hazan, Singer 2011) sets the step size: both travel in one message, and workers add to both.
"""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import torch

import pyps
from examples.apps.cluster import Place, run
from examples.apps.management import FOR_EVER, MANAGEMENTS, Keys, Management

AHEAD = 4  # batches between telling and using
BEHIND = 2  # batches whose changes need not have come to their owners yet
EPSILON = 1e-8


@dataclass(frozen=True)
class Batch:
    """What one step uses.

    Attributes
    ----------
    ids : sequence of int64 array
        For each group of parameters those that the step reads and changes, sorted, none twice.
    data : tuple
        What the task's loss needs besides; it refers to positions in `ids`.
    samples : int
        How many examples it has: entries, triples, pairs of words.
    """

    ids: Sequence[Keys]
    data: tuple[Any, ...]
    samples: int = 0


@dataclass(frozen=True)
class Stage:
    """Batches between two barriers.

    Attributes
    ----------
    batches : iterable of Batch
    block : int64 array, optional
        The keys that this worker alone uses in the stage, so that it need not tell of them in each batch.
    """

    batches: Iterable[Batch]
    block: Keys | None = None


@dataclass(frozen=True)
class Sampled:
    """Parameters of one group that each step also uses, drawn by the server.

    Attributes
    ----------
    group, count : int
    weights : array, optional
        How often each is drawn in comparison to others; by default all alike.
    seed : int
        Of the draws.
    """

    group: int
    count: int
    weights: Any = None
    seed: int = 1


class Task(Protocol):
    """What is to be learned.

    Attributes
    ----------
    groups : sequence of (count, width)
        Parameters of one kind have one width; keys count through all groups.
    rate : float
        The length of AdaGrad's longest step.
    first_sum : float
        What the sums of squared gradients begin with. With 0 the first step has the longest length whatever the
        gradient, and workers that begin together go as many times too far.
    metric : str
        What `quality` returns.
    """

    rate: float
    first_sum: float
    metric: str

    @property
    def groups(self) -> Sequence[tuple[int, int]]:
        """See above."""

    @property
    def sampled(self) -> Sampled | None:
        """What each step uses besides its batch's own parameters."""

    def initial(self) -> list[torch.Tensor]:
        """Return the first values of each group's parameters, shape (count, width)."""

    def own_keys(self, worker: int, workers: int) -> Keys | None:
        """Return keys that only this worker uses, in all epochs."""

    def stages(self, worker: int, workers: int, epoch: int) -> Iterable[Stage]:
        """Return a worker's part of an epoch; every worker has as many stages."""

    def loss(self, parameters: Sequence[torch.Tensor], batch: Batch) -> torch.Tensor:
        """Return the sum of the losses of a batch; `parameters` has the rows of `batch.ids`, and of the sample."""

    def quality(self, parameters: Sequence[torch.Tensor]) -> float:
        """Return what the parameters are worth on data that nobody trains with."""


@dataclass
class Epoch:
    """What was seen in one epoch: of one worker, or of all of them.

    Attributes
    ----------
    seconds : float
        From barrier to barrier.
    core_seconds : float
        What the processes computed meanwhile, their servers included.
    loss : float
        Sum over the batches.
    quality : float
        After the epoch.
    keys, keys_local : int
        Keys pulled and pushed, and how many of them were answered on the worker's node.
    samples : int
        Of the batches.
    memory : int
        Bytes of the nodes' stores at the end of the epoch.
    """

    seconds: float = 0.0
    core_seconds: float = 0.0
    loss: float = 0.0
    quality: float = 0.0
    keys: int = 0
    keys_local: int = 0
    samples: int = 0
    memory: int = 0

    @property
    def share_local(self) -> float:
        """The part of the accesses that did not leave the node."""
        return self.keys_local / self.keys if self.keys else 1.0


@dataclass
class Layout:
    """Where a task's parameters are among the keys, and what lies in their values: `rows.Rows` is another one."""

    groups: Sequence[tuple[int, int]]
    sampled: Sampled | None = None
    lengths: Keys = field(init=False)
    first_keys: list[int] = field(init=False)

    def __post_init__(self) -> None:
        counts = [count for count, _ in self.groups]
        self.lengths = np.repeat([2 * width for _, width in self.groups], counts)
        self.first_keys = [sum(counts[:group]) for group in range(len(counts))]

    def options(self) -> dict[str, Any]:
        """Return what `pyps.init` is told of the keys besides their lengths."""
        return {"num_keys": len(self.lengths)}

    def keys(self, ids: Sequence[Keys]) -> Keys:
        """Return the keys of parameters that are given by their numbers in each group."""
        return np.concatenate([part + first for part, first in zip(ids, self.first_keys, strict=True)])

    def all(self) -> list[Keys]:
        """Return the numbers of all parameters."""
        return [np.arange(count) for count, _ in self.groups]

    def empty(self, ids: Sequence[Keys], sampled: bool = False) -> tuple[torch.Tensor, list[torch.Tensor]]:
        """Return a buffer for values, and a view for each group, and for the sample, shape (n, 2, width)."""
        shapes = [(len(part), 2, width) for part, (_, width) in zip(ids, self.groups, strict=True)]
        if sampled and self.sampled:
            shapes.append((self.sampled.count, 2, self.groups[self.sampled.group][1]))
        ends = np.cumsum([math.prod(shape) for shape in shapes]).tolist()
        buffer = torch.empty(ends[-1])
        places = zip([0, *ends[:-1]], ends, shapes, strict=True)
        return buffer, [buffer[first:end].view(shape) for first, end, shape in places]

    def parameter(self, group: int, value: torch.Tensor) -> torch.Tensor:
        """Return the parameters that are in values of a group."""
        return value[:, 0].contiguous()

    def change(
        self, group: int, value: torch.Tensor, gradient: torch.Tensor, rate: float, out: torch.Tensor
    ) -> None:
        """Compute what AdaGrad adds to values of a group."""
        torch.mul(gradient, gradient, out=out[:, 1])
        sums = (value[:, 1] + out[:, 1]).add_(EPSILON).rsqrt_()
        torch.mul(gradient, sums, out=out[:, 0]).mul_(-rate)

    def set_first(self, kv: pyps.Worker, task: Task) -> None:
        """Set what the parameters and sums begin with."""
        buffer, values = self.empty(self.all())
        for value, first in zip(values, task.initial(), strict=True):
            value[:, 0], value[:, 1] = first, task.first_sum
        kv.set(self.keys(self.all()), buffer)

    def judged(self) -> list[Keys]:
        """Return the numbers of the parameters from which the task's quality follows."""
        return self.all()

    def enable_sampling(self, node: pyps.Server, scheme: str) -> None:
        """Tell a node what its workers will draw."""
        if self.sampled:
            first = self.first_keys[self.sampled.group]
            end = first + self.groups[self.sampled.group][0]
            weights = self.sampled.weights
            distribution = "uniform" if weights is None else "weighted"
            node.enable_sampling_support(
                scheme, True, distribution, first, end, weights=weights, seed=self.sampled.seed
            )


def step(kv: pyps.Worker, task: Task, layout: Layout, batch: Batch, sample: int) -> float:
    """Pull, compute, push; return the loss."""
    keys = layout.keys(batch.ids)
    buffer, values = layout.empty(batch.ids, sampled=True)
    own = buffer
    if layout.sampled:
        own = buffer[: len(buffer) - values[-1].numel()]
    pulled = kv.pull(keys, own, asynchronous=True)
    if layout.sampled:
        drawn = np.empty(layout.sampled.count, np.int64)
        kv.pull_sample(sample, drawn, values[-1])
        keys = np.concatenate([keys, drawn])
    kv.wait(pulled)
    parameters = [layout.parameter(group, value).requires_grad_() for group, value in enumerate(values)]
    loss = task.loss(parameters, batch)
    loss.backward()  # type: ignore[no-untyped-call]
    change, changes = layout.empty(batch.ids, sampled=True)
    for group, (value, parameter, delta) in enumerate(zip(values, parameters, changes, strict=True)):
        gradient = parameter.grad
        assert gradient is not None
        layout.change(group, value, gradient, task.rate, delta)
    kv.push(keys, change, asynchronous=True)
    return float(loss.detach())


def told(
    kv: pyps.Worker, stage: Stage, layout: Layout, management: Management
) -> Iterator[tuple[Batch, int]]:
    """Yield the batches of a stage, each some time after the node was told of its keys, and the number of its sample.

    The clock goes on with each batch.
    """
    if stage.block is not None:
        clock, batches = kv.current_clock(), list(stage.batches)
        management.tell(kv, stage.block, clock, clock + len(batches), True)
        for batch in batches:
            yield batch, 0
            kv.advance_clock()
        return
    waiting: deque[tuple[Batch, int]] = deque()
    for batch in stage.batches:
        clock = kv.current_clock() + len(waiting)
        management.tell(kv, layout.keys(batch.ids), clock, clock + 1, False)
        sample = kv.prepare_sample(layout.sampled.count, clock, clock + 1) if layout.sampled else 0
        waiting.append((batch, sample))
        if len(waiting) > AHEAD:
            yield waiting.popleft()
            end_clock(kv, management)
    for both in waiting:
        yield both
        end_clock(kv, management)


def end_clock(kv: pyps.Worker, management: Management) -> None:
    """Go on to the next batch: with what all but the last ones have changed at the owners."""
    if management.replicates:
        kv.wait_sync(behind=BEHIND)
    kv.advance_clock()


def program(place: Place, task: Task, management: Management, epochs: int, layout: Layout) -> list[Epoch]:
    """Be one worker: train, and return what was seen. The first worker also sets the values and judges them."""
    kv = place.kv
    if place.is_first_of_node:
        layout.enable_sampling(place.server, management.sampling)
    if place.number == 0:
        layout.set_first(kv, task)
    place.barrier()
    own = task.own_keys(place.number, place.workers)
    if own is not None:
        management.tell(kv, own, kv.current_clock(), FOR_EVER, True)
    seen = []
    for number in range(epochs):
        epoch = Epoch()
        before = kv.stats()
        place.barrier()
        start, computed = time.perf_counter(), time.process_time()
        for stage in task.stages(place.number, place.workers, number):
            for batch, sample in told(kv, stage, layout, management):
                epoch.loss += step(kv, task, layout, batch, sample)
                epoch.samples += batch.samples
            place.barrier()
        epoch.seconds = time.perf_counter() - start
        if place.is_first_of_node:
            epoch.core_seconds = time.process_time() - computed
            epoch.memory = place.server.stats()["committed_bytes"]
        after = kv.stats()
        epoch.keys = sum(after[name] - before[name] for name in ("keys_pulled", "keys_pushed"))
        epoch.keys_local = after["keys_local"] - before["keys_local"]
        if place.number == 0:
            ids = layout.judged()
            buffer, values = layout.empty(ids)
            kv.wait_sync()  # the owners have everything since the barrier, the replicas here from now on
            kv.pull(layout.keys(ids), buffer)
            epoch.quality = task.quality(
                [layout.parameter(group, value) for group, value in enumerate(values)]
            )
        seen.append(epoch)
    return seen


def train(
    task: Task,
    *,
    management: str | Management = "intent",
    nodes: int = 1,
    workers: int = 1,
    epochs: int = 3,
    timeout: float = 600.0,
    begin: Callable[[int], str] | None = None,
    layout: Layout | None = None,
    begin_worker: Callable[[int], None] | None = None,
    compression: str | None = None,
) -> list[Epoch]:
    """Train on a cluster of this machine.

    Parameters
    ----------
    task : Task
    management : str or Management
        One of the names in `MANAGEMENTS`, or another way.
    nodes, workers : int
        How many processes, and workers in each.
    epochs : int
    timeout, begin, begin_worker
        As for `cluster.run`.
    layout : Layout, optional
        Where the parameters are; by default in a range of keys that all exist from the beginning.
    compression : str, optional
        As for `pyps.Server`.

    Returns
    -------
    list of Epoch
        Of all workers together.
    """
    if isinstance(management, str):
        if management not in MANAGEMENTS:
            raise ValueError(f"management is {management!r}; it must be one of {', '.join(MANAGEMENTS)}")
        management = MANAGEMENTS[management]
    layout = layout or Layout(task.groups, task.sampled)
    of_workers = run(
        program,
        task,
        management,
        epochs,
        layout,
        value_lengths=layout.lengths,
        options={**layout.options(), "compression": compression},
        techniques=management.techniques,
        nodes=nodes,
        workers=workers,
        timeout=timeout,
        begin=begin,
        begin_worker=begin_worker,
    )
    return [
        Epoch(
            seconds=max(part.seconds for part in parts),
            core_seconds=sum(part.core_seconds for part in parts),
            loss=sum(part.loss for part in parts),
            quality=parts[0].quality,
            keys=sum(part.keys for part in parts),
            keys_local=sum(part.keys_local for part in parts),
            samples=sum(part.samples for part in parts),
            memory=sum(part.memory for part in parts),
        )
        for parts in zip(*of_workers, strict=True)
    ]
