"""Workers: slots, threads, clocks, timestamps, statistics, the end."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import pyps

ONES = np.ones(3, np.float32)


def test_workers_have_numbers(server: pyps.Server) -> None:
    with server.worker() as first, server.worker() as second:
        assert {first.id, second.id} == {1, 2}
    assert first.id == 0


def test_a_number_is_given_again(server: pyps.Server) -> None:
    server.worker().finalize()
    with server.worker() as kv:
        assert kv.id == 1


def test_there_are_so_many_workers_and_no_more() -> None:
    with pyps.Server(1, 1, max_workers=3) as server:
        workers = [server.worker() for _ in range(3)]
        with pytest.raises(RuntimeError, match="all 3 worker slots are taken"):
            server.worker()
        workers[1].finalize()
        with server.worker() as kv:
            assert kv.id == 2
        for worker in workers:
            worker.finalize()


@pytest.mark.slow
def test_slots_of_killed_processes_are_used_again(program: Any) -> None:
    with pyps.Server(1, 3, max_workers=1) as server:
        for _ in range(3):
            process = program(
                "kv = pyps.attach(sys.argv[1]).worker(); print(kv.id, flush=True); time.sleep(60)",
                server.address,
            )
            assert process.stdout.readline() == "1\n"
            process.kill()
            process.wait(10)
        with server.worker() as kv:
            assert kv.id == 1
        assert server.stats()["workers_reclaimed"] == 3


def test_finalize_may_be_repeated_from_any_thread(server: pyps.Server) -> None:
    kv = server.worker()
    threads = [threading.Thread(target=kv.finalize) for _ in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(10)
    kv.finalize()
    with pytest.raises(pyps.ClosedError, match="the worker is finalized"):
        kv.push([0], ONES)


def test_a_dropped_worker_leaves_its_slot(server: pyps.Server) -> None:
    server.worker()
    with server.worker() as kv:
        assert kv.id == 1


def test_a_worker_outlives_its_python_server() -> None:
    kv = pyps.Server(1, 3).worker()
    kv.push([0], ONES)
    kv.node.shutdown()
    kv.finalize()


def test_finalize_during_use_is_an_error_for_the_user(server: pyps.Server) -> None:
    kv = server.worker()
    errors: list[Exception] = []

    def use() -> None:
        try:
            while True:
                kv.push(np.zeros(500, np.int64), np.ones((500, 3), np.float32))
        except pyps.ClosedError as error:
            errors.append(error)

    thread = threading.Thread(target=use)
    thread.start()
    time.sleep(0.02)
    kv.finalize()
    thread.join(10)
    assert len(errors) == 1


def test_one_worker_serves_several_threads(server: pyps.Server) -> None:
    with server.worker() as kv:

        def push() -> None:
            for _ in range(200):
                kv.push(np.zeros(100, np.int64), np.ones((100, 3), np.float32))
                kv.push([1], ONES)

        threads = [threading.Thread(target=push) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(30)
        out = np.zeros(6, np.float32)
        kv.pull([0, 1], out)
        assert out.tolist() == [80_000.0] * 3 + [800.0] * 3


def test_clocks_belong_to_workers(server: pyps.Server) -> None:
    with server.worker() as first, server.worker() as second:
        assert first.current_clock() == 0
        assert [first.advance_clock(), first.advance_clock()] == [1, 2]
        assert second.current_clock() == 0


def test_localize_and_intent_find_everything_here(kv: pyps.LocalWorker) -> None:
    kv.localize([1, 2])
    kv.intent([1, 2], 3)
    kv.intent([1, 2], 3, 5)


@pytest.mark.parametrize(("start", "end"), [(-1, 0), (3, 3), (5, 2), (0, -1), (2**63 - 1, 0)])
def test_impossible_intents_are_refused(kv: pyps.LocalWorker, start: int, end: int) -> None:
    with pytest.raises(ValueError, match="the intent"):
        kv.intent([1], start, end)


@pytest.mark.parametrize(
    ("start", "error"), [(1.5, TypeError), ("1", TypeError), (None, TypeError), (2**70, ValueError)]
)
def test_what_is_no_clock_is_refused(kv: pyps.LocalWorker, start: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match="start"):
        kv.intent([1], start)


@pytest.mark.parametrize("way", ["positional", "asynchronous", "async"])
@pytest.mark.parametrize("operation", ["pull", "push", "set"])
def test_asynchronous_operations_are_answered_at_once_here(
    kv: pyps.LocalWorker, way: str, operation: str
) -> None:
    call = getattr(kv, operation)
    vals = ONES.copy()
    timestamp = call([1], vals, True) if way == "positional" else call([1], vals, **{way: True})
    assert timestamp == -1
    assert timestamp.done()
    timestamp.wait(timeout=1)
    kv.wait(timestamp)
    kv.wait(timestamp, -1, timestamp)
    assert kv.is_finished(timestamp)
    kv.waitall()


def test_a_timestamp_is_a_number() -> None:
    timestamp = pyps.Timestamp(-1)
    assert isinstance(timestamp, int)
    assert {-1: "answered"}[timestamp] == "answered"


@pytest.mark.parametrize("timestamp", [0, 1, -2, 2**62, 2**80, -(2**80)])
def test_timestamps_never_returned_are_refused(kv: pyps.LocalWorker, timestamp: int) -> None:
    for call in (kv.wait, kv.is_finished, lambda ts: kv.wait(-1, ts)):
        with pytest.raises(ValueError, match="was not returned"):
            call(timestamp)


@pytest.mark.parametrize("timestamp", [None, "1", 1.0])
def test_what_is_no_number_is_no_timestamp(kv: pyps.LocalWorker, timestamp: Any) -> None:
    with pytest.raises(TypeError):
        kv.wait(timestamp)


@pytest.mark.parametrize("timeout", [-1, float("nan"), float("inf")])
def test_impossible_timeouts_are_refused(kv: pyps.LocalWorker, timeout: float) -> None:
    calls: list[Callable[[], object]] = [
        lambda: kv.wait(-1, timeout=timeout),
        lambda: kv.waitall(timeout),
        lambda: kv.barrier(timeout),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="timeout is"):
            call()


def test_statistics_count_calls_and_keys(kv: pyps.LocalWorker) -> None:
    kv.push([1, 2], np.ones((2, 3), np.float32))
    kv.set([1], ONES)
    kv.pull([1, 2, 3], np.ones((3, 3), np.float32))
    stats = kv.stats()
    assert [stats[name] for name in ("pulls", "pushes", "sets")] == [1, 1, 1]
    assert [stats[name] for name in ("keys_pulled", "keys_pushed", "keys_set", "keys_local")] == [3, 2, 1, 6]


def test_long_calls_let_other_threads_run() -> None:
    with pyps.local(1000, 1000) as kv:
        keys = np.zeros(5_000, np.int64)
        vals = np.ones((5_000, 1000), np.float32)
        inside = False
        seen = 0

        def watch() -> None:
            nonlocal seen
            deadline = time.monotonic() + 20
            while seen < 1000 and time.monotonic() < deadline:
                seen += inside

        thread = threading.Thread(target=watch)
        thread.start()
        while thread.is_alive():
            inside = True
            kv.push(keys, vals)
            inside = False
        assert seen == 1000
