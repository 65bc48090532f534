"""Rows across hosts: the same calls, over the parameter server's nodes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import numpy as np
import pytest
import torch

import pyps
from pyps import wholememory as wm
from tests.pyps.conftest import Start

ROWS, LENGTH = 100, 6


@pytest.fixture(params=[1, 2, 3])
def hosts(request: pytest.FixtureRequest, cluster: Start) -> Iterator[list[wm.ChunkedTensor]]:
    """A tensor on so many hosts, as each of them sees it."""
    with ExitStack() as stack:
        nodes = cluster(request.param, ROWS, LENGTH)
        yield [stack.enter_context(wm.ChunkedTensor(node, place=True)) for node in nodes]


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_what_one_host_writes_the_others_read(hosts: list[wm.ChunkedTensor], dtype: torch.dtype) -> None:
    rows = torch.arange(ROWS * LENGTH, dtype=torch.float32).view(ROWS, LENGTH)
    wm.scatter(hosts[0], torch.arange(ROWS, dtype=dtype), rows)
    indices = torch.tensor([[0, 99, 50], [33, 34, 0]], dtype=dtype)
    for tensor in hosts:
        assert torch.equal(wm.gather(tensor, indices), rows[indices.long()])
        out = torch.empty(2, 3, LENGTH)
        assert wm.gather(tensor, indices, out=out) is out
        assert torch.equal(out, rows[indices.long()])


def test_additions_of_all_hosts_are_in_the_sum(hosts: list[wm.ChunkedTensor]) -> None:
    indices = torch.tensor([5, 99, 5])
    for tensor in hosts:
        wm.scatter_add(tensor, indices, torch.ones(3, LENGTH))
    found = wm.gather(hosts[-1], torch.tensor([5, 99, 6]))
    assert found[:, 0].tolist() == [2.0 * len(hosts), len(hosts), 0]


def test_each_host_holds_its_range(hosts: list[wm.ChunkedTensor]) -> None:
    assert [row for tensor in hosts for row in tensor.local_rows] == list(range(ROWS))
    for tensor in hosts:
        rows = np.array(tensor.local_rows)
        assert tensor._worker.pull_if_local(rows, np.empty((len(rows), LENGTH), np.float32))


def test_an_index_out_of_range_is_named(hosts: list[wm.ChunkedTensor]) -> None:
    with pytest.raises(IndexError, match="index 100 at position 1 is out of range: there are rows 0 to 99"):
        wm.gather(hosts[0], torch.tensor([1, 100]))
    with pytest.raises(TypeError, match=r"rows is of torch\.float64, the tensor of torch\.float32"):
        wm.scatter(hosts[0], torch.tensor([1]), torch.ones(1, LENGTH, dtype=torch.float64))


def test_values_of_different_lengths_are_no_rows() -> None:
    with pyps.Server(2, [1, 2]) as server, pytest.raises(ValueError, match="the rows of a tensor have one"):
        wm.ChunkedTensor(server)


def test_rows_are_numbered() -> None:
    with (
        pyps.Server(value_length=2, capacity=10) as server,
        pytest.raises(ValueError, match="a tensor's rows are numbered: give the node num_keys"),
    ):
        wm.ChunkedTensor(server)
