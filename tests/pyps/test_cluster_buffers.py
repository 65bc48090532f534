"""Buffers over nodes: read and written as they are, refused where they do not fit, kept alive meanwhile."""

from __future__ import annotations

import gc
import itertools
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

import pyps
from tests.pyps.cluster import Cluster

TIMEOUT = 20.0
KEYS = np.array([1, 0, 3])  # of which two live on the other node


@pytest.fixture
def slow() -> Iterator[pyps.Worker]:
    """A worker of a node of two whose messages take their time: ten keys of three float32."""
    with Cluster(2, 10, 3, slow=True) as cluster, cluster.nodes[0].worker() as kv:
        yield kv


def array(library: str) -> Any:
    return np.ones((3, 3), np.float32) if library == "numpy" else torch.ones(3, 3)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_a_pushed_buffer_may_change_and_go_as_soon_as_the_call_returns(
    slow: pyps.Worker, library: str
) -> None:
    for _ in range(20):
        values = array(library)
        slow.push(KEYS, values, asynchronous=True)
        values[:] = 1000
        del values
    slow.waitall(TIMEOUT)
    out = np.zeros((3, 3), np.float32)
    slow.pull(KEYS, out)
    assert (out == 20).all()


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_a_buffer_to_be_pulled_lives_until_the_pull_has_ended(slow: pyps.Worker, library: str) -> None:
    slow.set(KEYS, np.full((3, 3), 7, np.float32))
    others = []
    for _ in range(8):
        out = array(library)
        gone = weakref.ref(out)
        pulled = slow.pull(KEYS, out, asynchronous=True)
        del out
        others.append(np.zeros((3, 3), np.float32))  # would take its memory
        assert gone() is not None
        pulled.wait(TIMEOUT)
        assert gone() is None
    assert all((other == 0).all() for other in others)


@pytest.mark.slow
def test_a_torch_tensors_memory_stays_with_a_pull(slow: pyps.Worker) -> None:
    """Its storage is what must live, even if the tensor that was given does not."""
    slow.set(KEYS, np.full((3, 3), 7, np.float32))
    whole = torch.zeros(6, 3)
    pulled = slow.pull(KEYS, whole[3:], asynchronous=True)
    gc.collect()
    pulled.wait(TIMEOUT)
    assert whole.tolist() == [[0.0] * 3] * 3 + [[7.0] * 3] * 3


def test_a_push_and_then_a_pull_may_share_a_buffer(slow: pyps.Worker) -> None:
    values = np.ones((3, 3), np.float32)
    for number in range(1, 6):
        values[:] = 1
        slow.push(KEYS, values, asynchronous=True)
        slow.pull(KEYS, values, asynchronous=True).wait(TIMEOUT)
        assert (values == number).all()


@pytest.mark.parametrize("step", [2, -1])
def test_strided_buffers_travel(slow: pyps.Worker, step: int) -> None:
    whole = np.arange(18, dtype=np.float32).reshape(3, 6)
    part = whole[:, ::step][:, :3]
    expected = part.copy()
    slow.set(KEYS, part, asynchronous=True)
    out = np.zeros((3, 6), np.float32)
    slow.pull(KEYS, out[:, ::step][:, :3], asynchronous=True).wait(TIMEOUT)
    assert (out[:, ::step][:, :3] == expected).all()


def read_only() -> Any:
    out = np.zeros((3, 3), np.float32)
    out.flags.writeable = False
    return out


REFUSED: dict[str, tuple[Callable[[], Any], type[Exception] | tuple[type[Exception], ...], str]] = {
    "another dtype": (lambda: np.zeros((3, 3), np.float64), (TypeError, ValueError), "float64"),
    "another dtype of torch": (
        lambda: torch.zeros(3, 3, dtype=torch.float64),
        (TypeError, ValueError),
        "float64",
    ),
    "too few elements": (lambda: np.zeros((2, 3), np.float32), ValueError, "6"),
    "too many elements": (lambda: np.zeros((4, 3), np.float32), ValueError, "12"),
    "a read-only array": (read_only, (TypeError, ValueError), "read-only|readonly|writable|writeable"),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", REFUSED)
def test_a_buffer_that_does_not_fit_is_refused_before_anything_is_sent(slow: pyps.Worker, case: str) -> None:
    make, error, words = REFUSED[case]
    slow.set(KEYS, np.full((3, 3), 7, np.float32))
    out = make()
    with pytest.raises(error, match=words):
        slow.pull(KEYS, out, asynchronous=True)
    assert (np.asarray(out) == 0).all()
    slow.waitall(TIMEOUT)


@pytest.mark.slow
@pytest.mark.parametrize("key", [-1, 10, 2**40])
@pytest.mark.parametrize("call", ["pull", "push", "set", "localize", "intent"])
def test_a_key_outside_is_refused_before_anything_is_sent(slow: pyps.Worker, call: str, key: int) -> None:
    keys = [1, 0, key]
    values = np.ones((3, 3), np.float32)
    arguments = {"localize": (keys,), "intent": (keys, 0)}.get(call, (keys, values))
    with pytest.raises(ValueError, match=str(key)):
        getattr(slow, call)(*arguments)
    out = np.zeros((2, 3), np.float32)
    slow.pull([1, 0], out)
    assert (out == 0).all()


@pytest.mark.parametrize("techniques", ["replication_only", "relocation_only"])
def test_every_dtype_travels_and_adds_up(dtype: str, techniques: str) -> None:
    """Small whole numbers are exact in all of them: pushed to keys here, elsewhere, moved and replicated."""
    kind: torch.dtype = getattr(torch, dtype)
    lengths = np.arange(6) % 3 + 1
    total = int(lengths.sum())
    with (
        Cluster(2, 6, lengths, dtype=dtype, techniques=techniques) as cluster,
        cluster.nodes[0].worker() as one,
        cluster.nodes[1].worker() as two,
    ):
        for number, (kv, key) in enumerate(itertools.product((one, two), range(6))):
            kv.intent([key], kv.current_clock(), kv.current_clock() + 2)
            kv.push(np.arange(6), torch.ones(total, dtype=kind))
            kv.advance_clock()
            out = torch.zeros(total, dtype=kind)
            kv.pull(np.arange(6), out)
            assert out.min() >= number % 6 + 1
        assert cluster.settles_at(torch.full((total,), 12, dtype=kind))
