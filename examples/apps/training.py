"""The loop that the programs share: tell which keys come, pull their values, compute gradients, push what changes."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

import pyps
from examples.apps.cluster import Place, run
from examples.apps.layout import Layout
from examples.apps.management import FOR_EVER, MANAGEMENTS, Management
from examples.apps.task import Batch, Stage, Task

AHEAD = 4  # batches between telling and using
BEHIND = 2  # batches whose changes need not have come to their owners yet


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
