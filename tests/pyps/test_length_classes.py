"""Servers whose keys are any numbers and whose values have several lengths: a key says which length its value has."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import pyps
from pyps import classed_keys
from tests.pyps.any_keys import NODES_AND_THREADS
from tests.pyps.cluster import Cluster
from tests.pyps.nodes import Cluster as Processes

TIMEOUT = 50.0
LENGTHS = [3, 1, 40, 3]
CAPACITY = 20_000
Keys = NDArray[np.int64]


def mixed(count: int, first: int = 0) -> Keys:
    """Keys of all classes in turn, with ids that have no order."""
    numbers = np.arange(first, first + count, dtype=np.uint64)
    ids = (numbers * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(8)
    return ids.view(np.int64) | (numbers % np.uint64(len(LENGTHS))).view(np.int64) << 56


def lengths_of(keys: Keys) -> NDArray[np.int64]:
    return np.array(LENGTHS)[keys >> 56]


def values(keys: Keys, number: int = 1) -> NDArray[np.int64]:
    """Values that tell whose they are: multiples of a number between 1 and 1000 that belongs to the key."""
    return np.repeat((keys % 1000 + 1) * number, lengths_of(keys))


@contextmanager
def running(count: int, threads: int, transport: str = "tcp") -> Iterator[Cluster]:
    options = {"value_length": LENGTHS, "dtype": "int64", "capacity": CAPACITY, "server_threads": threads}
    with Cluster(count, transport=transport, **options) as cluster:
        yield cluster
        assert sum(node.stats()["refused"] for node in cluster.nodes) == 0


@pytest.fixture(params=[*NODES_AND_THREADS, (2, 1, "memory"), (4, 3, "memory")])
def cluster(request: pytest.FixtureRequest) -> Iterator[Cluster]:
    with running(*request.param) as cluster:
        yield cluster


def test_every_key_has_a_value_of_its_length(cluster: Cluster) -> None:
    keys, more = mixed(1000), mixed(2000, first=500)
    with ExitStack() as stack:
        workers = [stack.enter_context(node.worker()) for node in cluster.nodes]
        found = workers[0].pull(keys)
        assert found.shape == (sum(LENGTHS) * 250,)
        assert (found == 0).all()
        for kv in workers:
            kv.push(keys, values(keys))
        count = len(workers)
        workers[-1].push(more, values(more))
        workers[-1].set(keys[:8], values(keys[:8], 9))
        for kv in workers:
            assert (kv.pull(keys[8:500]) == values(keys[8:500], count)).all()
            assert (kv.pull(more[:500]) == values(more[:500], count + 1)).all()
            assert (kv.pull(more[500:]) == values(more[500:], 1)).all()
            assert (kv.pull(keys[:8]) == values(keys[:8], 9)).all()
            for number, length in enumerate(LENGTHS):
                assert kv.get_key_size(classed_keys(number, 12345)) == length
    held = [node.stats() for node in cluster.nodes]
    assert sum(stats["keys_held"] for stats in held) == 2500
    assert sum(stats["value_bytes"] for stats in held) == 625 * sum(LENGTHS) * 8


def test_keys_that_come_twice_and_keys_of_other_lengths_between_count(cluster: Cluster) -> None:
    keys = np.concatenate([mixed(100), mixed(7), mixed(100)])
    with cluster.nodes[-1].worker() as kv:
        kv.push(keys, values(keys))
        assert (kv.pull(keys[:7]) == values(keys[:7], 3)).all()
        assert (kv.pull(keys[7:100]) == values(keys[7:100], 2)).all()


def test_asynchronous_calls_are_waited_for(cluster: Cluster) -> None:
    keys = mixed(500)
    with cluster.nodes[0].worker() as kv:
        for _ in range(3):
            kv.push(keys, values(keys), asynchronous=True)
        kv.wait_sync()
        out = np.zeros(len(values(keys)), np.int64)
        kv.wait(kv.pull(keys, out, asynchronous=True))
        assert (out == values(keys, 3)).all()
        assert (kv.pull(keys, asynchronous=True).wait() == out).all()
        kv.staggered_push(keys, values(keys), group=33)
        assert (kv.pull(torch.from_numpy(keys)).numpy() == values(keys, 4)).all()


def test_many_workers_at_once_lose_nothing(cluster: Cluster) -> None:
    keys, rounds = mixed(2000), 15

    def work(kv: pyps.Worker, number: int) -> None:
        random = np.random.default_rng(number)
        for _ in range(rounds):
            some = random.permutation(keys)
            kv.push(some, values(some))

    cluster.run(work)
    with cluster.nodes[0].worker() as kv:
        assert (kv.pull(keys) == values(keys, rounds * 2 * len(cluster))).all()


def test_keys_move_and_are_pulled_if_they_are_local(cluster: Cluster) -> None:
    keys = mixed(1000)
    with ExitStack() as stack:
        workers = [stack.enter_context(node.worker()) for node in cluster.nodes]
        for kv in workers:
            kv.localize(keys)  # the first one's are new
            kv.push(keys, values(keys))
            assert kv.pull_if_local(keys, values(keys)) or len(workers) > 1
        assert workers[-1].pull_if_local(keys, values(keys))
        for kv in workers:
            assert (kv.pull(keys) == values(keys, len(workers))).all()
            assert not kv.pull_if_local(mixed(1, first=5000), values(mixed(1, first=5000)))
    assert cluster.nodes[-1].stats()["keys_held"] == 1000


def test_intents_bring_keys_and_replicas(cluster: Cluster) -> None:
    keys = mixed(300)
    with ExitStack() as stack:
        workers = [stack.enter_context(node.worker()) for node in cluster.nodes]
        for kv in workers:
            kv.intent(keys, 0, 2)
        end = time.monotonic() + TIMEOUT
        while len(workers) > 1 and not all(kv.pull_if_local(keys, values(keys)) for kv in workers):
            assert time.monotonic() < end
            time.sleep(0.01)
        for kv in workers:
            kv.push(keys, values(keys))
        for _ in range(2):
            for kv in workers:
                kv.wait_sync()
        for kv in workers:
            assert (kv.pull(keys) == values(keys, len(workers))).all()
            kv.advance_clock()
            kv.advance_clock()
        for kv in workers:
            kv.wait_sync()
            kv.push(keys, values(keys))
        for kv in workers:
            kv.wait_sync()
        assert (workers[0].pull(keys) == values(keys, 2 * len(workers))).all()


@pytest.mark.slow
@pytest.mark.parametrize(("count", "threads"), NODES_AND_THREADS)
def test_killed_workers_leave_whole_values(count: int, threads: int, program: Any) -> None:
    source = """
from tests.pyps.test_length_classes import mixed, values
node = pyps.attach(sys.argv[1])
kv = node.worker()
print("ready", flush=True)
while True:
    keys = np.random.permutation(mixed(2000))[:200]
    kv.push(keys, values(keys))
"""
    keys = mixed(2000)
    starts = np.concatenate([[0], np.cumsum(lengths_of(keys))[:-1]])
    with running(count, threads) as cluster:
        for turn in range(4):
            process = program(source, cluster.nodes[turn % len(cluster.nodes)].address)
            assert process.stdout.readline() == "ready\n"
            time.sleep(0.05 + 0.02 * turn)
            process.send_signal(signal.SIGKILL)
            process.wait(TIMEOUT)
            with cluster.nodes[0].worker() as kv:
                found = kv.pull(keys)
            times = found[starts] // values(keys)[starts]
            assert (found == values(keys) * np.repeat(times, lengths_of(keys))).all()
        with cluster.nodes[-1].worker() as kv:
            before = kv.pull(keys)
            kv.push(keys, values(keys))
            assert (kv.pull(keys) == before + values(keys)).all()


def test_a_key_of_no_class_is_named_and_nothing_is_done(cluster: Cluster) -> None:
    good = classed_keys(0, 1)
    with cluster.nodes[0].worker() as kv:
        for wrong, number in (
            (classed_keys(4, 1), 4),
            (classed_keys(127, 2**56 - 1), 127),
            (-1, 255),
            (-(2**63), 128),
        ):
            text = f"^key {wrong} at position 1 is of length class {number}, but there are only 4, .*classed_keys"
            calls = [
                lambda wrong=wrong: kv.push([good, wrong], np.ones(6, np.int64)),
                lambda wrong=wrong: kv.set([good, wrong], np.ones(6, np.int64)),
                lambda wrong=wrong: kv.pull([good, wrong]),
                lambda wrong=wrong: kv.pull_if_local([good, wrong], np.ones(6, np.int64)),
                lambda wrong=wrong: kv.localize([good, wrong]),
                lambda wrong=wrong: kv.intent([good, wrong], 0, 1),
            ]
            for call in calls:
                with pytest.raises(ValueError, match=text):
                    call()
        with pytest.raises(ValueError, match="the buffer has 5 elements, the values of these 2 keys have 4"):
            kv.push([good, classed_keys(1, 1)], np.ones(5, np.int64))
        with pytest.raises(ValueError, match="may be any numbers: give it num_keys"):
            cluster.nodes[0].enable_sampling_support("naive", True, "uniform", 0, 10)
    assert sum(node.stats()["keys_held"] for node in cluster.nodes) == 0


def test_beyond_the_capacity_or_the_memory_limit_the_caller_is_told() -> None:
    with pyps.Server(value_length=LENGTHS, dtype="int64", capacity=100) as server, server.worker() as kv:
        keys = mixed(101)
        with pytest.raises(MemoryError, match="its capacity is 100 keys"):
            kv.push(keys, values(keys))
        assert server.stats()["keys_held"] == 0
        one = classed_keys(2, np.arange(100))  # all keys may be of one class
        kv.push(one, values(one))
        assert (kv.pull(one) == values(one)).all()
    limit, long = 8_000_000, classed_keys(1, np.arange(100_000))
    with (
        pyps.Server(value_length=[1, 100], capacity=10**6, memory_limit=limit, max_workers=2) as server,
        server.worker() as kv,
    ):

        def push_all() -> None:
            for some in np.split(long, 100):
                kv.push(some, np.ones(100_000, np.float32))

        with pytest.raises(MemoryError, match=f"memory_limit {limit} bytes"):
            push_all()
        done = server.stats()["keys_held"]
        assert done >= 5000
        assert (kv.pull(long[:done]) == 1).all()
        assert server.stats()["committed_bytes"] <= limit


def test_an_intent_for_keys_without_room_is_counted_by_their_own_lengths() -> None:
    with (
        Cluster(
            2, value_length=[1, 50_000], capacity=10**5, memory_limit=30_000_000, max_workers=2
        ) as cluster,
        cluster.nodes[0].worker() as kv,
    ):
        long, short = classed_keys(1, np.arange(300)), classed_keys(0, np.arange(300))
        kv.push(short, np.ones(300, np.float32))
        kv.localize(short)
        with pytest.raises(MemoryError, match="memory_limit"):
            kv.localize(long)
        with pytest.raises(MemoryError, match="memory_limit"):
            kv.intent(long, 0, 1)
        assert kv.pull_if_local(short, np.ones(300, np.float32))
        assert all(node.is_open for node in cluster.nodes)


@pytest.mark.slow
def test_keys_of_a_lost_node_are_lost_and_the_others_go_on() -> None:
    with Processes(3, on_loss="continue", capacity=CAPACITY, lengths=[3, 2]) as processes:
        used = classed_keys(1, np.arange(100, 200)).tolist()
        assert processes.nodes[0].value(f"kv.push({used}, np.ones(200, np.int64))") is None
        processes.nodes[2].kill()
        processes.nodes[0].until(f"kv.pull({used})", "NodeLost", TIMEOUT)
        time.sleep(0.5)  # operations on their way raise once, also for keys that live
        kinds: dict[str | None, int] = {}
        for key in used:
            report = processes.nodes[0].do(f"kv.pull([{key}])")
            assert report.get("value", [1, 1]) == [1, 1]
            kinds[report.get("error")] = kinds.get(report.get("error"), 0) + 1
        assert set(kinds) == {None, "NodeLost"}


def test_nodes_that_meet_agree_on_the_lengths_and_their_order() -> None:
    def met(*of_nodes: list[int]) -> list[str]:
        store, found = torch.distributed.HashStore(), []

        def run(rank: int) -> None:
            place = {"rendezvous": store, "num_nodes": 2, "rank": rank, "timeout": TIMEOUT}
            try:
                with (
                    pyps.init(value_length=of_nodes[rank], capacity=1000, **place) as node,
                    node.worker() as kv,
                ):
                    kv.barrier(TIMEOUT)
                    found.append(f"{kv.get_key_size(classed_keys(1, 3))}")
            except (ValueError, pyps.StartError) as error:
                found.append(str(error))

        threads = [threading.Thread(target=run, args=(rank,)) for rank in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(TIMEOUT)
        return found

    assert met([8, 64], [8, 64]) == ["64", "64"]
    for one, other in (([8, 64], [64, 8]), ([8, 64], [8, 64, 2]), ([8], [8, 8])):
        found = met(one, other)
        assert len(found) == 2
        assert all("value_length is" in text for text in found)


def test_lengths_that_do_not_fit_are_refused() -> None:
    for lengths in ([1, 2, 3], [1, 1], []):
        text = f"^{len(lengths)} value lengths were given: say num_keys .* or capacity if"
        with pytest.raises(ValueError, match=text):
            pyps.Server(value_length=lengths)
    for lengths in ([], [1] * 129):
        text = f"^{len(lengths)} value lengths were given; keys that may be any numbers have 1 to 128"
        with pytest.raises(ValueError, match=text):
            pyps.Server(value_length=lengths, capacity=10)
    with pytest.raises(ValueError, match=r"^the value length of length class 1 is 0; it must be in \[1,"):
        pyps.Server(value_length=[1, 0], capacity=10)


def test_128_classes_are_possible_and_lengths_may_be_alike() -> None:
    with pyps.Server(value_length=[2] * 128, capacity=1000) as server, server.worker() as kv:
        keys = np.array([classed_keys(number, 2**56 - 1) for number in range(128)])
        kv.push(keys, np.repeat(np.arange(128, dtype=np.float32), 2))
        assert server.value_length == 2
        assert kv.pull(keys)[:, 1].tolist() == list(range(128))
        assert server.stats()["keys_held"] == 128


def test_with_one_length_keys_stay_free() -> None:
    with pyps.Server(value_length=[3], capacity=10) as server, server.worker() as kv:
        assert kv.pull([-2, 2**63 - 1, classed_keys(5, 1)]).shape == (3, 3)


def test_keys_of_a_class_are_of_the_kind_that_the_ids_are() -> None:
    assert classed_keys(0, 7) == 7
    assert type(classed_keys(2, 7)) is int
    assert classed_keys(127, 2**56 - 1) == 2**63 - 1
    found = classed_keys(1, np.array([[0, 1], [2, 2**56 - 1]], np.uint64))
    assert found.tolist() == [[2**56, 2**56 + 1], [2**56 + 2, 2**57 - 1]]
    assert found.dtype == np.int64
    made = classed_keys(np.int32(3), torch.tensor([[4, 5]], dtype=torch.int32))
    assert made.dtype == torch.int64
    assert made.tolist() == [[3 * 2**56 + 4, 3 * 2**56 + 5]]
    assert classed_keys(3, torch.tensor(4)).shape == ()
    assert classed_keys(1, []).shape == (0,)
    assert classed_keys(1, [9]).tolist() == [2**56 + 9]


@pytest.mark.parametrize(
    ("number", "ids", "kind", "text"),
    [
        (0, [3, -1], ValueError, r"id -1 at position 1 is outside \[0, 2\*\*56\)"),
        (0, np.array([2**56]), ValueError, f"id {2**56} at position 0 is outside"),
        (0, torch.tensor([[1, 2], [2**60, 3]]), ValueError, f"id {2**60} at position 2 is outside"),
        (0, np.array([2**64 - 1], np.uint64), ValueError, f"key {2**64 - 1} at position 0 does not fit"),
        (128, [3], ValueError, r"the length class is 128; it must be in \[0, 128\)"),
        (-1, [3], ValueError, "the length class is -1"),
        (1.0, [3], TypeError, "must be an integer, not float"),
        (True, [3], TypeError, "must be an integer, not bool"),
        (1, [0.5], TypeError, "must be integers"),
    ],
)
def test_what_makes_no_key_of_a_class_is_refused(
    number: Any, ids: Any, kind: type[Exception], text: str
) -> None:
    with pytest.raises(kind, match=text):
        classed_keys(number, ids)
