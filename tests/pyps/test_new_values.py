"""`pull` without a buffer: what it returns, of which kind and shape; and what the other operations return."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch

import pyps
from pyps.dtypes import DTYPES
from tests.pyps.cluster import Cluster

TIMEOUT = 20.0


@pytest.mark.parametrize("dtype", [name for name in DTYPES if name != "bfloat16"])
def test_keys_of_numpy_get_an_array_of_the_servers_dtype(dtype: str) -> None:
    with pyps.local(10, 3, dtype=dtype) as kv:
        kv.push([4], np.ones(3, dtype))
        values = kv.pull(np.array([4, 5, 4]))
        assert type(values) is np.ndarray
        assert (values.dtype, values.tolist()) == (np.dtype(dtype), [[1] * 3, [0] * 3, [1] * 3])


@pytest.mark.parametrize("dtype", DTYPES)
def test_keys_of_torch_get_a_tensor_of_the_servers_dtype(dtype: str) -> None:
    with pyps.local(10, 3, dtype=dtype) as kv:
        kv.push([4], torch.ones(3, dtype=getattr(torch, dtype)))
        values = kv.pull(torch.tensor([5, 4]))
        assert torch.equal(values, torch.tensor([[0] * 3, [1] * 3], dtype=getattr(torch, dtype)))


@pytest.mark.parametrize("keys", [[4, 5], np.array([4, 5])], ids=["list", "numpy"])
def test_bfloat16_comes_in_a_tensor_whatever_the_keys_are(keys: Any) -> None:
    with pyps.local(10, 3, dtype="bfloat16") as kv:
        values = kv.pull(keys)
        assert (values.dtype, values.shape) == (torch.bfloat16, (2, 3))


@pytest.mark.slow
def test_bfloat16_without_torch_says_the_way_out() -> None:
    program = "import pyps\nwith pyps.local(10, 3, dtype='bfloat16') as kv:\n    kv.pull([1])"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60
    )
    assert (
        "TypeError: numpy has no bfloat16: import torch before, or pass a buffer for the values"
        in done.stderr
    )


@pytest.mark.parametrize(
    ("keys", "shape"),
    [
        ([], (0, 3)),
        ([7], (1, 3)),
        ((1, 2), (2, 3)),
        (np.zeros((2, 4), np.int32), (2, 4, 3)),
        (range(5), (5, 3)),
    ],
)
def test_the_shape_is_that_of_the_keys_and_the_value_length(keys: Any, shape: tuple[int, ...]) -> None:
    with pyps.local(10, 3) as kv:
        assert kv.pull(keys).shape == shape


def test_values_of_different_lengths_come_one_after_another() -> None:
    lengths = np.array([2, 1, 3])
    with pyps.local(3, lengths) as kv:
        kv.set([0, 1, 2], np.arange(6, dtype=np.float32))
        assert kv.pull([2, 0]).tolist() == [3, 4, 5, 0, 1]
        assert kv.pull(torch.tensor([1])).tolist() == [2]


def test_a_key_that_does_not_exist_is_refused() -> None:
    with pyps.local(3, 2) as kv, pytest.raises(ValueError, match="key 3 at position 1"):
        kv.pull([0, 3])


@pytest.mark.parametrize("kind", ["numpy", "torch"])
def test_a_buffer_is_what_pull_returns(kind: str) -> None:
    with pyps.local(10, 3) as kv:
        kv.push([1], np.ones(3, np.float32))
        for call in (
            lambda out: kv.pull([1], out),
            lambda out: kv.pull([1], values=out),
            lambda out: kv.pull([1], vals=out),
            lambda out: kv.pull([1], out=out),
        ):
            out: Any = np.zeros(3, np.float32) if kind == "numpy" else torch.zeros(3)
            assert call(out) is out
            assert out.tolist() == [1] * 3


def test_two_buffers_are_refused() -> None:
    out = np.zeros(3, np.float32)
    with pyps.local(10, 3) as kv, pytest.raises(TypeError, match="values and out are two names"):
        kv.pull([1], out, out=out)


@pytest.mark.parametrize("operation", ["pull", "push", "set", "staggered_push", "pull_if_local"])
def test_values_and_vals_are_one_argument(operation: str) -> None:
    with pyps.local(10, 3) as kv:
        call, given = getattr(kv, operation), np.ones(3, np.float32)
        for name in ("values", "vals"):
            call([1], **{name: given})
        with pytest.raises(TypeError, match="values and vals are two names"):
            call([1], given, vals=given)


@pytest.mark.parametrize("key", [0, 1])
@pytest.mark.parametrize("kind", [np.array, torch.tensor])
def test_the_wait_for_an_asynchronous_pull_returns_its_values(kind: Any, key: int) -> None:
    """Of key 0, which lives here, and key 1, which does not."""
    with Cluster(2, 10, 3) as cluster, cluster.nodes[0].worker() as kv:
        kv.push([key], np.ones(3, np.float32))
        pulled = kv.pull(kind([key, key]), asynchronous=True)
        for _ in range(2):
            assert pulled.wait(TIMEOUT).tolist() == [[1] * 3] * 2
        kv.wait(pulled)
        assert pulled.done()
        assert kv.is_finished(pulled)


def test_the_wait_for_a_pull_into_a_buffer_returns_nothing() -> None:
    with Cluster(2, 10, 3) as cluster, cluster.nodes[0].worker() as kv:
        for key in (0, 1):
            assert kv.pull([key], np.zeros(3, np.float32), asynchronous=True).wait(TIMEOUT) is None


def test_other_operations_return_nothing_unless_asynchronous() -> None:
    ones = np.ones(3, np.float32)
    with Cluster(2, 10, 3) as cluster, cluster.nodes[0].worker() as kv:
        for keys in ([0], [1]):
            assert kv.push(keys, ones) is kv.set(keys, ones) is kv.staggered_push(keys, ones) is None
            assert isinstance(kv.push(keys, ones, asynchronous=True), pyps.Timestamp)
        assert kv.localize([0, 1]) is None


def test_an_operation_that_was_answered_shows_that_and_is_minus_one() -> None:
    with pyps.local(10, 3) as kv:
        pushed = kv.push([1], np.ones(3, np.float32), asynchronous=True)
        assert (pushed, repr(pushed)) == (-1, "<Timestamp answered>")
        assert (kv.is_finished(pushed), kv.wait(pushed)) == (True, None)


def test_an_operation_on_its_way_shows_its_number() -> None:
    with Cluster(2, 10, 3) as cluster, cluster.nodes[0].worker() as kv:
        pushed = kv.push([1], np.ones(3, np.float32), asynchronous=True)
        assert repr(pushed) == f"<Timestamp {int(pushed)}>"
