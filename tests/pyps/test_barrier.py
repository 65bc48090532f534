"""The barrier over all workers of a node."""

from __future__ import annotations

import os
import queue
import signal
import threading
import time
from typing import Any

import numpy as np
import pytest

import pyps

STEPS = """
keys, one = [0], np.ones(1, np.float32)
seen = []
for step in range(20):
    kv.push(keys, one)
    kv.barrier(timeout=30)
    out = np.zeros(1, np.float32)
    kv.pull(keys, out)
    seen.append(out.item())
    kv.barrier(timeout=30)
result = seen
"""


def wait_in_barrier(worker: pyps.Worker) -> tuple[queue.Queue[Exception | None], list[threading.Thread]]:
    """Let a thread wait in a barrier; return how it ends, once it waits.

    Two threads try it, and the refusal of one tells that the other is in it.
    """
    ended: queue.Queue[Exception | None] = queue.Queue()

    def wait() -> None:
        try:
            worker.barrier(timeout=30)
        except (ValueError, pyps.ClosedError) as error:
            ended.put(error)
        else:
            ended.put(None)

    threads = [threading.Thread(target=wait) for _ in range(2)]
    for thread in threads:
        thread.start()
    refused = ended.get(timeout=30)
    assert "each thread needs its own worker" in str(refused)
    return ended, threads


def join(threads: list[threading.Thread]) -> None:
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()


@pytest.mark.slow
def test_nobody_passes_before_all_came(crew: Any) -> None:
    with pyps.Server(1, 1, num_workers=3) as server:
        for seen in crew.run(server, STEPS, workers=3):
            assert seen == [3.0 * (step + 1) for step in range(20)]


@pytest.mark.slow
def test_threads_and_processes_meet(program: Any) -> None:
    with pyps.Server(1, 1, num_workers=2) as server:
        process = program(
            "kv = pyps.attach(sys.argv[1]).worker(); kv.barrier(timeout=30); print('past')", server.address
        )
        with server.worker() as kv:
            kv.barrier(timeout=30)
        assert process.communicate(timeout=30)[0] == "past\n"


def test_a_worker_alone_passes(kv: pyps.LocalWorker) -> None:
    kv.barrier(timeout=1)
    kv.barrier(timeout=1)


def test_a_barrier_times_out_and_can_be_tried_again(server: pyps.Server) -> None:
    with server.worker() as first, server.worker() as second:
        start = time.monotonic()
        with pytest.raises(pyps.WaitTimeoutError, match="not all 2 workers came to the barrier in time"):
            first.barrier(timeout=0.1)
        assert time.monotonic() - start < 5
        thread = threading.Thread(target=second.barrier, kwargs={"timeout": 30})
        thread.start()
        first.barrier(timeout=30)
        thread.join(10)
        assert not thread.is_alive()


def test_who_left_a_barrier_by_timeout_does_not_count_as_arrived(server: pyps.Server) -> None:
    with server.worker() as first, server.worker() as second:
        with pytest.raises(pyps.WaitTimeoutError):
            first.barrier(timeout=0.01)
        with pytest.raises(pyps.WaitTimeoutError):
            second.barrier(timeout=0.01)


def test_workers_expected_but_not_there_are_waited_for() -> None:
    with (
        pyps.Server(1, 1, num_workers=2) as server,
        server.worker() as kv,
        pytest.raises(pyps.WaitTimeoutError, match="not all 2 workers"),
    ):
        kv.barrier(timeout=0.1)


@pytest.mark.parametrize("way", ["finalized", "shut down"])
def test_a_barrier_ends_when_its_worker_or_server_does(server: pyps.Server, way: str) -> None:
    first, second = server.worker(), server.worker()
    ended, threads = wait_in_barrier(first)
    if way == "finalized":
        first.finalize()
    else:
        server.shutdown()
    assert isinstance(ended.get(timeout=30), pyps.ClosedError)
    join(threads)
    first.finalize()
    second.finalize()


def test_a_worker_that_leaves_is_not_waited_for(server: pyps.Server) -> None:
    with server.worker() as first:
        second = server.worker()
        threading.Timer(0.1, second.finalize).start()
        first.barrier(timeout=30)


@pytest.mark.slow
def test_a_killed_worker_is_not_waited_for(server: pyps.Server, program: Any) -> None:
    process = program(
        "kv = pyps.attach(sys.argv[1]).worker(); print(kv.id, flush=True); time.sleep(60)", server.address
    )
    process.stdout.readline()
    with server.worker() as kv:
        threading.Timer(0.1, process.kill).start()
        start = time.monotonic()
        kv.barrier(timeout=30)
        assert time.monotonic() - start < 5


def test_a_signal_interrupts_a_barrier(server: pyps.Server) -> None:
    class Interrupted(Exception):
        pass

    def interrupt(number: int, frame: object) -> None:
        raise Interrupted

    former = signal.signal(signal.SIGUSR1, interrupt)
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1))
    try:
        with server.worker() as first, server.worker():
            timer.start()
            with pytest.raises(Interrupted):
                first.barrier(timeout=30)
    finally:
        timer.join()
        signal.signal(signal.SIGUSR1, former)


@pytest.mark.slow
def test_a_signal_that_is_handled_does_not_end_a_barrier(server: pyps.Server) -> None:
    handled: list[int] = []
    former = signal.signal(signal.SIGUSR1, lambda number, frame: handled.append(number))
    timers = [threading.Timer(0.05 * n, os.kill, (os.getpid(), signal.SIGUSR1)) for n in (1, 2)]
    try:
        with server.worker() as first:
            second = server.worker()
            timers.append(threading.Timer(0.3, second.finalize))
            for timer in timers:
                timer.start()
            first.barrier(timeout=30)
            assert len(handled) == 2
    finally:
        for timer in timers:
            timer.join()
        signal.signal(signal.SIGUSR1, former)


def test_two_threads_cannot_be_in_a_barrier_with_one_worker(server: pyps.Server) -> None:
    with server.worker() as first:
        second = server.worker()
        ended, threads = wait_in_barrier(first)
        second.finalize()
        assert ended.get(timeout=30) is None  # the other one's barrier is over
        join(threads)


def test_values_pushed_before_a_barrier_are_seen_after_it(kv: pyps.LocalWorker) -> None:
    other = kv.node.worker()
    pushed = np.ones(3, np.float32)
    out = np.zeros(3, np.float32)

    def push() -> None:
        other.push([5], pushed)
        other.barrier(timeout=30)

    thread = threading.Thread(target=push)
    thread.start()
    kv.barrier(timeout=30)
    kv.pull([5], out)
    thread.join(10)
    other.finalize()
    assert out.tolist() == [1, 1, 1]
