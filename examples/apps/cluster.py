"""A cluster on this machine: some node processes with some worker threads each, which run one program.

Every worker calls ``program(place, *arguments)``; what it returns comes back in the order of the workers. A program
that fails ends all of them. On several machines each would call `pyps.init` by itself, under torchrun say, and need
none of the rest.
"""

from __future__ import annotations

import multiprocessing
import os
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

import torch
from torch.distributed import FileStore  # type: ignore[attr-defined]

import pyps

PRELOAD = ["torch.distributed", "pyps"]  # what the processes find loaded when they start
ENDING = 5.0  # seconds that a node has to end after its programs


class Failure(RuntimeError):
    """A node's program failed; the message has its traceback."""


class Consequence(Failure):
    """It failed because another node ended."""


@dataclass(frozen=True)
class Place:
    """Where a worker is.

    Attributes
    ----------
    server : pyps.Server
    kv : pyps.Worker
    number, workers : int
        Of this worker among all, from 0, and how many there are.
    node, nodes : int
        The same of its node.
    """

    server: pyps.Server
    kv: pyps.Worker
    number: int
    workers: int
    node: int
    nodes: int

    @property
    def is_first_of_node(self) -> bool:
        """Whether this is the first worker of its process."""
        return self.number % (self.workers // self.nodes) == 0

    def barrier(self) -> None:
        """Wait until every worker of every node has come here, with its operations done, also by the owners of keys."""
        self.kv.wait_sync()
        self.kv.barrier()


def run(
    program: Callable[..., Any],
    *arguments: Any,
    value_lengths: Sequence[int] | Any,
    nodes: int = 1,
    workers: int = 1,
    techniques: str = "all",
    timeout: float = 600.0,
    begin: Callable[[int], str] | None = None,
    options: Mapping[str, Any] | None = None,
    begin_worker: Callable[[int], None] | None = None,
) -> list[Any]:
    """Start the nodes, run the program in every worker, shut the nodes down.

    Parameters
    ----------
    program : callable
        A function at the top of a module: ``program(place, *arguments)``.
    *arguments
        What it gets besides; they are pickled.
    value_lengths : array of int
        Elements of each key's value, of as many keys as there are unless `options` say otherwise.
    nodes, workers : int
        How many processes, and threads in each.
    techniques : str
        Of the nodes.
    timeout : float
        Seconds that all of it may take.
    begin : callable, optional
        ``begin(number)`` is what each node's process does first, for example to be on another host; it returns the
        address at which the node listens.
    options : mapping, optional
        More that `pyps.init` is told; with the lengths of classes of keys, for example, their ``capacity``.
    begin_worker : callable, optional
        ``begin_worker(number)`` is what each worker's thread does first, with the number of its node.

    Returns
    -------
    list
        What the workers' programs returned.

    Raises
    ------
    Failure
        A program raised, a process died, or the time is over.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOAD)
    meeting = tempfile.TemporaryDirectory()  # of the nodes
    pipes, processes = [], []
    failed = True
    try:
        for rank in range(nodes):
            ours, theirs = context.Pipe(duplex=False)
            settings = (
                theirs,
                str(Path(meeting.name, "store")),
                program,
                arguments,
                value_lengths,
                rank,
                nodes,
                workers,
                techniques,
                begin,
                dict(options or {"num_keys": len(value_lengths)}),
                begin_worker,
            )
            process = context.Process(target=_node, args=settings, name=f"node {rank}")
            process.start()
            theirs.close()
            pipes.append(ours)
            processes.append(process)
        results = _collect(pipes, time.monotonic() + timeout)
        failed = False
        return [result for of_node in results for result in of_node]
    finally:
        for process in processes:
            process.join(0.0 if failed else ENDING)
            if process.exitcode is None:
                process.kill()
                process.join()
            process.close()
        for pipe in pipes:
            pipe.close()
        meeting.cleanup()


def _collect(pipes: list[Connection], end: float) -> list[list[Any]]:
    """Receive the results of every node; raise the first failure, and a consequence only if no cause comes soon."""
    messages: dict[int, Any] = {}
    consequence: Consequence | None = None
    while len(messages) < len(pipes):
        missing = {pipe: rank for rank, pipe in enumerate(pipes) if rank not in messages}
        ready = wait(list(missing), max(end - time.monotonic(), 0.0))
        if not ready:
            raise consequence or Failure(f"nodes {sorted(missing.values())} did not end in time")
        for pipe in ready:
            assert isinstance(pipe, Connection)
            rank = missing[pipe]
            try:
                messages[rank] = pipe.recv()
            except EOFError:
                raise Failure(f"node {rank} died") from None
            if isinstance(messages[rank], Consequence):
                consequence = consequence or messages[rank]
                end = min(end, time.monotonic() + ENDING)
            elif isinstance(messages[rank], Failure):
                raise messages[rank]
    if consequence:
        raise consequence
    return [messages[rank] for rank in range(len(pipes))]


def _node(
    pipe: Connection,
    meeting: str,
    program: Callable[..., Any],
    arguments: tuple[Any, ...],
    value_lengths: Any,
    rank: int,
    nodes: int,
    workers: int,
    techniques: str,
    begin: Callable[[int], str] | None,
    options: Mapping[str, Any],
    begin_worker: Callable[[int], None] | None,
) -> None:
    """Be one node's process."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    torch.set_num_threads(1)  # the workers are the parallelism
    try:
        store: Any = FileStore(meeting, nodes)
        interface = None if begin is None else begin(rank)
        with pyps.init(
            value_length=value_lengths,
            rendezvous=store,
            num_nodes=nodes,
            rank=rank,
            num_workers=workers,
            techniques=techniques,
            interface=interface,
            **options,
        ) as node:
            assert isinstance(node, pyps.Server), "this process creates it"

            def work(number: int) -> Any:
                if begin_worker is not None:
                    begin_worker(rank)
                with node.worker() as kv:
                    return program(
                        Place(node, kv, rank * workers + number, nodes * workers, rank, nodes), *arguments
                    )

            with ThreadPoolExecutor(workers) as pool:
                results = list(pool.map(work, range(workers)))
            pipe.send(results)
    except Exception as error:
        kind = Consequence if isinstance(error, pyps.NodeLost) else Failure
        pipe.send(kind(f"node {rank}:\n{traceback.format_exc()}"))


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, killed too: nobody would want the results."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(1)
