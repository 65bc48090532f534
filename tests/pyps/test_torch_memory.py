"""Torch tensors as buffers: those that are read with the other sign, that move, and that autograd watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

import pyps
from tests.pyps.cluster import Cluster

SEVENS = np.full(3, 7, np.float32)


@pytest.fixture
def kv() -> Iterator[pyps.Worker]:
    with pyps.local(num_keys=4, value_length=3) as worker:
        worker.set(np.arange(4), np.tile(SEVENS, 4))
        yield worker


@pytest.fixture
def cluster() -> Iterator[Cluster]:
    """Two nodes whose messages take their time; odd keys live on the second."""
    with Cluster(2, 10, 3, slow=True) as running:
        with running.nodes[1].worker() as worker:
            worker.set([1, 3], np.tile(SEVENS, 2))
        yield running


def negated(values: list[float]) -> torch.Tensor:
    """Return a tensor that torch reads with the other sign than its memory has."""
    found = torch._neg_view(-torch.tensor(values, dtype=torch.float32))
    assert found.is_neg()
    return found


def test_a_negated_tensor_is_read_as_torch_reads_it(kv: pyps.Worker) -> None:
    kv.set([0], negated([1, 2, 3]))
    kv.push([0], torch.tensor([1 + 1j, 1 + 2j, 1 + 3j], dtype=torch.cfloat).conj().imag)
    out = np.zeros(3, np.float32)
    kv.pull([0], out)
    assert out.tolist() == [0, 0, 0]


@pytest.mark.parametrize("how", ["pull", "asynchronously", "if local"])
def test_a_negated_tensor_is_written_as_torch_reads_it(kv: pyps.Worker, how: str) -> None:
    out = negated([1, 2, 3])
    PULLS[how](kv, out)
    assert out.tolist() == [7, 7, 7]
    assert out.is_neg()


PULLS: dict[str, Callable[[pyps.Worker, torch.Tensor], object]] = {
    "pull": lambda kv, out: kv.pull([1], out),
    "asynchronously": lambda kv, out: kv.pull([1], out, asynchronous=True).wait(),
    "if local": lambda kv, out: kv.pull_if_local([1], out) or kv.pull([1], out),
}


@pytest.mark.slow
@pytest.mark.parametrize("where", ["here", "elsewhere"])
@pytest.mark.parametrize("how", PULLS)
def test_autograd_notices_that_a_pull_writes(cluster: Cluster, how: str, where: str) -> None:
    out = torch.zeros(3)
    weight = torch.ones(3, requires_grad=True)
    product = (weight * out).sum()  # its backward needs `out` as it was
    with cluster.nodes[1 if where == "here" else 0].worker() as kv:
        before = out._version
        PULLS[how](kv, out)
        assert out.tolist() == [7, 7, 7]
        assert out._version > before
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.backward()


@pytest.mark.slow
def test_what_is_not_written_keeps_its_version(cluster: Cluster) -> None:
    out = torch.zeros(3)
    with cluster.nodes[0].worker() as kv:
        assert not kv.pull_if_local([1], out)
        kv.push([1], out)
        kv.set([0], out)
    assert out._version == 0


def test_a_view_s_base_is_noticed_too(kv: pyps.Worker) -> None:
    base = torch.zeros(2, 3)
    kv.pull([1], base[1])
    assert base.tolist() == [[0, 0, 0], [7, 7, 7]]
    assert base._version == 1


def test_samples_are_noticed() -> None:
    with pyps.Server(4, 3) as server:
        server.enable_sampling_support("naive", True, "uniform", 0, 4)
        with server.worker() as kv:
            keys, out = torch.zeros(5, dtype=torch.int64), torch.zeros(5, 3)
            kv.pull_sample(kv.prepare_sample(5, 0), keys, out)
            assert (keys._version, out._version) == (1, 1)


def test_inference_mode_has_no_versions(kv: pyps.Worker) -> None:
    with torch.inference_mode():
        out = torch.zeros(3)
        kv.pull([1], out)
        assert out.tolist() == [7, 7, 7]
    kv.pull([2], out)


def grow(out: torch.Tensor) -> None:
    out.resize_(1_000_000)
    out.resize_(3)


def give_back(out: torch.Tensor) -> None:
    out.untyped_storage().resize_(0)
    out.untyped_storage().resize_(12)


def move(out: torch.Tensor) -> None:
    out.set_(torch.zeros(3))


def other_data(out: torch.Tensor) -> None:
    out.data = torch.zeros(3)


@pytest.mark.slow
@pytest.mark.parametrize("change", [grow, give_back, move, other_data])
def test_a_tensor_may_move_while_a_pull_into_it_is_under_way(
    cluster: Cluster, change: Callable[[torch.Tensor], None]
) -> None:
    out = torch.zeros(3)
    with cluster.nodes[0].worker() as kv:
        kv.pull([1], np.zeros(3, np.float32))  # connected
        with cluster.silent():
            pull = kv.pull([3], out, asynchronous=True)
            change(out)
            freed = [torch.zeros(3) for _ in range(100)]  # where it was, perhaps
        pull.wait(20)
    assert out.tolist() == [7, 7, 7]
    assert all((one == 0).all() for one in freed)


@pytest.mark.slow
@pytest.mark.parametrize("change", [move, other_data])
def test_memory_of_numpy_is_kept_while_a_pull_into_it_is_under_way(
    cluster: Cluster, change: Callable[[torch.Tensor], None]
) -> None:
    memory: Any = np.zeros(3, np.float32)
    out = torch.from_numpy(memory)
    with cluster.nodes[0].worker() as kv:
        kv.pull([1], np.zeros(3, np.float32))
        with cluster.silent():
            pull = kv.pull([3], out, asynchronous=True)
            change(out)
        pull.wait(20)
    assert memory.tolist() == [7, 7, 7]


@pytest.mark.slow
def test_a_tensor_of_another_shape_is_left_as_it_is(cluster: Cluster) -> None:
    out = torch.zeros(3)
    with cluster.nodes[0].worker() as kv:
        kv.pull([1], np.zeros(3, np.float32))
        with cluster.silent():
            pull = kv.pull([3], out, asynchronous=True)
            out.resize_(2, 3).zero_()
        with pytest.raises(ValueError, match=r"had the shape \(3,\) .* and has \(2, 3\) now"):
            pull.wait(20)
        assert out.tolist() == [[0, 0, 0], [0, 0, 0]]
        kv.waitall(20)
