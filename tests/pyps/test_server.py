"""Servers: what they can hold, how they end, what they take."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import pyps


def test_a_million_keys_take_at_most_56_bytes_each() -> None:
    with pyps.Server(1_000_000, 10) as server, server.worker():
        stats = server.stats()
        assert stats["committed_bytes"] <= 56 * 1_000_000
        assert stats["directory_bytes"] == 8 * 1_000_000
        assert stats["value_bytes"] == 40 * 1_000_000
        assert stats["keys_held"] == 1_000_000


@pytest.mark.parametrize("num_nodes", [2, 4, 16])
def test_a_node_of_several_takes_at_most_52_bytes_for_each_key_that_it_holds(num_nodes: int) -> None:
    with pyps.Server(200_000 * num_nodes, 10, num_nodes=num_nodes, rank=1) as server, server.worker():
        stats = server.stats()
        assert stats["keys_held"] == 200_000
        assert stats["directory_bytes"] == 8 * 200_000
        assert stats["committed_bytes"] <= 52 * 200_000 + 2**20  # the last slab of values has room for more


def test_lengths_may_differ() -> None:
    with pyps.Server(4, [1, 5, 1, 1000]) as server:
        assert [server.get_key_size(key) for key in range(4)] == [1, 5, 1, 1000]
        assert server.value_length is None
        assert server.total_values == 1007
        assert server.total_length([1, 1, 3]) == 1010


@pytest.mark.parametrize(
    "lengths", [3, np.int64(3), [3], 3.0, torch.tensor([3.0]), np.full(5, 3), torch.full((5,), 3.0)], ids=repr
)
def test_a_uniform_length_can_be_given_in_many_ways(lengths: Any) -> None:
    with pyps.Server(5, lengths) as server, server.worker() as kv:
        assert server.value_length == 3
        assert kv.get_key_size() == kv.get_key_size(4) == 3
        assert kv.num_keys == server.num_keys == 5


@pytest.mark.parametrize("dtype", ["float64", np.float64, np.dtype("f8"), torch.float64])
def test_a_dtype_can_be_named_in_many_ways(dtype: Any) -> None:
    with pyps.Server(1, 1, dtype=dtype) as server:
        assert server.dtype.name == "float64"


BAD_PARAMETERS: list[tuple[dict[str, Any], type[Exception], str]] = [
    ({"num_keys": 0}, ValueError, "num_keys is 0"),
    ({"num_keys": -5}, ValueError, "num_keys is -5"),
    ({"num_keys": 2**32}, ValueError, "num_keys is 4294967296"),
    ({"num_keys": 2**70}, ValueError, "num_keys is 1180591620717411303424"),
    ({"num_keys": 1.5}, TypeError, "num_keys must be an integer, not float"),
    ({"num_keys": "3"}, TypeError, "num_keys must be an integer, not str"),
    ({"max_workers": 2.5}, TypeError, "max_workers must be an integer"),
    ({"max_workers": 2**40}, ValueError, "max_workers is 1099511627776"),
    ({"memory_limit": 1e9}, TypeError, "memory_limit must be an integer"),
    ({"value_length": 0}, ValueError, "value length of key 0 is 0"),
    ({"value_length": -1}, ValueError, "value length of key 0 is -1"),
    ({"value_length": [1, 2, 0, 4]}, ValueError, "value length of key 2 is 0"),
    ({"value_length": 2**40}, ValueError, "value length of key 0"),
    ({"value_length": [1, 2]}, ValueError, "2 value lengths were given for 4 keys"),
    ({"value_length": []}, ValueError, "0 value lengths"),
    ({"value_length": 1.5}, ValueError, "whole numbers"),
    ({"value_length": float("nan")}, ValueError, "whole numbers"),
    ({"value_length": float("inf")}, ValueError, "whole numbers"),
    ({"value_length": "3"}, TypeError, "numbers"),
    ({"value_length": None}, TypeError, "numbers"),
    ({"value_length": True}, TypeError, "not bool"),
    ({"dtype": "int8"}, ValueError, "dtype 'int8' is not possible; choose one of float32, float64"),
    ({"dtype": "complex64"}, ValueError, "not possible"),
    ({"dtype": torch.bool}, ValueError, "not possible"),
    ({"dtype": None}, ValueError, "not possible"),
    ({"dtype": 3}, ValueError, "not possible"),
    ({"max_workers": 0}, ValueError, "above 0"),
    ({"max_workers": -1}, ValueError, "max_workers is -1"),
    ({"max_workers": 4096}, ValueError, "max_workers is 4096"),
    ({"num_workers": -1}, ValueError, "num_workers is -1"),
    ({"memory_limit": -1}, ValueError, "memory_limit is -1"),
    ({"memory_limit": 0}, ValueError, "above 0"),
    ({"latch_timeout": -1.0}, ValueError, "timeout is -1.0"),
    ({"latch_timeout": float("nan")}, ValueError, "timeout is nan"),
    ({"latch_timeout": float("inf")}, ValueError, "timeout is inf"),
    ({"latch_timeout": "1"}, TypeError, "str|real number"),
    ({"unknown": 1}, TypeError, "unknown"),
]


@pytest.mark.parametrize(
    ("parameters", "error", "message"), BAD_PARAMETERS, ids=[str(row[0]) for row in BAD_PARAMETERS]
)
def test_bad_parameters(parameters: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        pyps.Server(**{"num_keys": 4, "value_length": 3, **parameters})


def test_too_many_different_lengths_are_refused() -> None:
    with pytest.raises(ValueError, match="at most 4096 are possible"):
        pyps.Server(5000, np.arange(5000) + 1)


def test_the_memory_limit_is_kept() -> None:
    with pytest.raises(MemoryError, match="exceed the memory limit of 1000000 bytes"):
        pyps.Server(100_000, 10, memory_limit=1_000_000)


@pytest.mark.parametrize(("num_keys", "length"), [(2**32 - 1, 2**20), (10_000_000, 100_000)])
def test_more_than_the_host_has_is_an_error(num_keys: int, length: int) -> None:
    with pytest.raises(MemoryError, match=r"this host has|no range of"):
        pyps.Server(num_keys, length)


@pytest.mark.parametrize("key", [-1, 10, 2**62])
def test_the_size_of_a_key_outside_is_refused(server: pyps.Server, key: int) -> None:
    with pytest.raises(ValueError, match="outside"):
        server.get_key_size(key)


def test_a_server_that_ended_refuses_everything(server: pyps.Server) -> None:
    address = server.address
    kv = server.worker()
    server.shutdown()
    server.shutdown()
    assert not server.is_open
    out = np.full(3, -1, np.float32)
    calls: list[Any] = [
        lambda: kv.pull([1], out),
        lambda: kv.push([1], out),
        lambda: kv.set([1], out),
        lambda: kv.pull_if_local([1], out),
        lambda: kv.localize([1]),
        lambda: kv.intent([1], 0),
        kv.advance_clock,
        kv.current_clock,
        lambda: kv.wait(-1),
        lambda: kv.is_finished(-1),
        kv.waitall,
        kv.barrier,
        server.worker,
        server.stats,
        lambda: server.address,
        lambda: server.get_key_size(1),
    ]
    for call in calls:
        with pytest.raises(pyps.ClosedError):
            call()
    assert (out == -1).all()
    with pytest.raises(pyps.AttachError, match="no server at"):
        pyps.attach(address)
    kv.finalize()


def test_two_servers_are_apart() -> None:
    with pyps.local(3, 1) as first, pyps.local(3, 1) as second:
        first.push([0], np.ones(1, np.float32))
        out = np.zeros(1, np.float32)
        second.pull([0], out)
        assert out[0] == 0


def test_a_server_is_initialized_once(server: pyps.Server) -> None:
    with pytest.raises(RuntimeError, match="once"):
        server.__init__(3, 4)  # type: ignore[misc]


def test_objects_that_were_not_initialized_do_no_harm() -> None:
    worker, node = pyps.Worker.__new__(pyps.Worker), pyps.Node.__new__(pyps.Node)
    calls: list[Any] = [
        lambda: worker.pull([0], np.zeros(1, np.float32)),
        lambda: worker.num_keys,
        lambda: worker.localize([0]),
        worker.barrier,
        worker.stats,
    ]
    for call in calls:
        with pytest.raises(pyps.ClosedError):
            call()
    worker.finalize()
    node.shutdown()
    with pytest.raises(ValueError, match="null"):
        node.worker()


def test_a_worker_needs_a_node() -> None:
    with pytest.raises(TypeError):
        pyps.Worker(None)  # type: ignore[arg-type]


def test_objects_tell_what_they_are(kv: pyps.LocalWorker) -> None:
    assert repr(kv) == "<pyps.LocalWorker 1 of <pyps.Server 10 keys, value_length 3, float32, open>>"
    kv.finalize()
    assert "finalized" in repr(kv)
    assert "shut down" in repr(kv)


@pytest.mark.slow
def test_importing_starts_nothing() -> None:
    source = """
import os, sys, threading
import numpy
def state():
    links = [os.path.realpath(f"/proc/self/fd/{fd}") for fd in os.listdir("/proc/self/fd")]
    return len(os.listdir("/proc/self/task")), [link for link in links if "socket" in link or "memfd" in link]
before = state()
import pyps
assert state() == before
assert threading.active_count() == 1
assert "torch" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", source], check=True, timeout=30)


def test_an_embedded_server_has_no_thread() -> None:
    before = set(Path("/proc/self/task").iterdir())  # one of an earlier test may be about to end
    with pyps.local(3, 1):
        assert set(Path("/proc/self/task").iterdir()) <= before
