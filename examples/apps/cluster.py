"""A cluster on this machine: some node processes with some worker threads each, which run one program.

Every worker calls ``program(place, *arguments)``; what it returns comes back in the order of the workers. A program
that fails ends all of them.
"""

from __future__ import annotations

import multiprocessing
import time
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from threading import BrokenBarrierError
from typing import Any

import torch

import pyps

START_TIMEOUT = 60.0  # seconds
BARRIER_TIMEOUT = 300.0
FAILED_FIRST = 5.0  # how long the node that caused another's broken barrier has to tell why
PRELOAD = ["torch", "pyps"]  # what the processes find loaded when they start


class Failure(RuntimeError):
    """A node's program failed; the message has its traceback."""


@dataclass(frozen=True)
class Place:
    """Where a worker is.

    Attributes
    ----------
    kv : pyps.Worker
    number, workers : int
        Of this worker among all, from 0, and how many there are.
    node, nodes : int
        The same of its node.
    meeting : Any
        What `barrier` waits at.
    """

    kv: pyps.Worker
    number: int
    workers: int
    node: int
    nodes: int
    meeting: Any

    @property
    def is_first_of_node(self) -> bool:
        """Whether this is the first worker of its process."""
        return self.number % (self.workers // self.nodes) == 0

    def barrier(self) -> None:
        """Wait until every worker of every node has come here, with its operations done."""
        self.kv.waitall()
        self.meeting.wait(BARRIER_TIMEOUT)


def run(
    program: Callable[..., Any],
    *arguments: Any,
    value_lengths: Sequence[int] | Any,
    nodes: int = 1,
    workers: int = 1,
    timeout: float = 600.0,
) -> list[Any]:
    """Start the nodes, run the program in every worker, shut the nodes down.

    Parameters
    ----------
    program : callable
        A function at the top of a module: ``program(place, *arguments)``.
    *arguments
        What it gets besides; they are pickled.
    value_lengths : array of int
        Elements of each key's value.
    nodes, workers : int
        How many processes, and threads in each.
    timeout : float
        Seconds that all of it may take.

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
    meeting = context.Barrier(nodes * workers)
    pipes, processes = [], []
    end = time.monotonic() + timeout
    try:
        for rank in range(nodes):
            ours, theirs = context.Pipe()
            settings = (theirs, meeting, program, arguments, value_lengths, rank, nodes, workers)
            process = context.Process(target=_node, args=settings, name=f"node {rank}")
            process.start()
            theirs.close()
            pipes.append(ours)
            processes.append(process)
        endpoints = _collect(pipes, time.monotonic() + START_TIMEOUT)
        for pipe in pipes:
            pipe.send(endpoints)
        results = _collect(pipes, end)
        for pipe in pipes:
            pipe.send("end")  # nobody needs another's keys any more
        _collect(pipes, time.monotonic() + START_TIMEOUT)
        return [result for of_node in results for result in of_node]
    finally:
        for process in processes:
            process.join(5.0 if process.exitcode is None and end > time.monotonic() else 0.0)
            if process.exitcode is None:
                process.kill()
                process.join()
            process.close()
        for pipe in pipes:
            pipe.close()


def _collect(pipes: list[Connection], end: float) -> list[Any]:
    """Receive one message of every node; raise the first failure."""
    messages: dict[int, Any] = {}
    while len(messages) < len(pipes):
        open_ones = [pipe for rank, pipe in enumerate(pipes) if rank not in messages]
        ready = wait(open_ones, max(end - time.monotonic(), 0.0))
        if not ready:
            raise Failure(f"nodes {sorted(set(range(len(pipes))) - set(messages))} did not answer in time")
        for pipe in ready:
            rank = pipes.index(pipe)  # type: ignore[arg-type]
            try:
                messages[rank] = pipes[rank].recv()
            except EOFError:
                raise Failure(f"node {rank} died") from None
            if isinstance(messages[rank], Failure):
                raise messages[rank]
    return [messages[rank] for rank in range(len(pipes))]


def _node(
    pipe: Connection,
    meeting: Any,
    program: Callable[..., Any],
    arguments: tuple[Any, ...],
    value_lengths: Any,
    rank: int,
    nodes: int,
    workers: int,
) -> None:
    """Be one node's process."""
    torch.set_num_threads(1)  # the workers are the parallelism
    try:
        with pyps.Server(len(value_lengths), value_lengths, num_nodes=nodes, rank=rank) as server:
            pipe.send(server.bind("tcp://127.0.0.1:*") if nodes > 1 else "")
            endpoints = pipe.recv()
            if nodes > 1:
                server.connect(endpoints)

            def work(number: int) -> Any:
                with server.worker() as kv:
                    place = Place(kv, rank * workers + number, nodes * workers, rank, nodes, meeting)
                    try:
                        return program(place, *arguments)
                    except BaseException:
                        meeting.abort()  # nobody is to wait for this worker
                        raise

            with ThreadPoolExecutor(workers) as pool:
                done = [pool.submit(work, number) for number in range(workers)]
            pipe.send(_results(done))
            pipe.recv()
        pipe.send("ended")
    except EOFError:  # the parent gave up
        return
    except BrokenBarrierError:
        pipe.poll(FAILED_FIRST)
        pipe.send(Failure(f"node {rank}: some workers did not come to a barrier"))
    except Exception:
        pipe.send(Failure(f"node {rank}:\n{traceback.format_exc()}"))


def _results(done: list[Future[Any]]) -> list[Any]:
    """Return what the workers returned, or raise what went wrong first: a broken barrier only follows from it."""
    errors = [error for error in (future.exception() for future in done) if error]
    if errors:
        raise min(errors, key=lambda error: isinstance(error, BrokenBarrierError))
    return [future.result() for future in done]
