"""Keys of several length classes: how they are made, which are refused, and on what nodes agree."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest
import torch

import pyps
from pyps import classed_keys
from tests.pyps.any_keys import CLASSED, LENGTHS, AnyKeys, name
from tests.pyps.cluster import Cluster

TIMEOUT = 50.0


@pytest.mark.slow
@pytest.mark.parametrize("any_cluster", CLASSED, indirect=True, ids=name)
def test_a_key_of_no_class_is_named_and_nothing_is_done(any_cluster: AnyKeys) -> None:
    good = classed_keys(0, 1)
    with any_cluster.nodes[0].worker() as kv:
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
            any_cluster.nodes[0].enable_sampling_support("naive", True, "uniform", 0, 10)
    assert sum(node.stats()["keys_held"] for node in any_cluster.nodes) == 0


def test_beyond_the_capacity_or_the_memory_limit_the_caller_is_told() -> None:
    with (
        pyps.Server(value_length=LENGTHS.value_length, dtype="int64", capacity=100) as server,
        server.worker() as kv,
    ):
        keys = LENGTHS.keys(101)
        with pytest.raises(MemoryError, match="its capacity is 100 keys"):
            kv.push(keys, LENGTHS.values(keys))
        assert server.stats()["keys_held"] == 0
        one = classed_keys(2, np.arange(100))  # all keys may be of one class
        kv.push(one, LENGTHS.values(one))
        assert (kv.pull(one) == LENGTHS.values(one)).all()
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
