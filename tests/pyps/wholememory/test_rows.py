"""Rows by indices: as torch's index_select and index_add_, for every dtype and layout; indices out of range named."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from pyps import wholememory as wm
from tests.pyps.wholememory.crew import results

pytestmark = pytest.mark.usefixtures("one_rank")
DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int32, torch.int64, torch.uint8]
# The tensor's strides for 50 rows of 6.
LAYOUTS = {"rows": [6, 1], "padded rows": [10, 1], "columns": [1, 50], "every second": [12, 2]}


def filled(dtype: torch.dtype = torch.float32, layout: str = "rows") -> torch.Tensor:
    a = wm.create_tensor([50, 6], LAYOUTS[layout], dtype, True, [])
    a.copy_(torch.arange(300).view(50, 6) % 120)
    return a


@pytest.fixture(params=[torch.int32, torch.int64], ids=["int32", "int64"])
def indices(request: pytest.FixtureRequest) -> torch.Tensor:
    return torch.tensor([[3, 49, 3], [0, 17, 8]], dtype=request.param)


@pytest.fixture(params=[1, 3], ids=["1 thread", "3 threads"])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    before = torch.get_num_threads()
    torch.set_num_threads(request.param)
    yield request.param
    torch.set_num_threads(before)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_gather_is_index_select(dtype: torch.dtype, layout: str, indices: torch.Tensor) -> None:
    a = filled(dtype, layout)
    expected = a[indices.long()]
    assert torch.equal(wm.gather(a, indices), expected)
    out = torch.zeros(2, 3, 6, dtype=dtype)
    assert wm.gather(a, indices, out=out) is out
    assert torch.equal(out, expected)
    strided = torch.zeros(6, 2, 3, dtype=dtype).permute(1, 2, 0)
    assert torch.equal(wm.gather(a, indices, out=strided), expected)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", DTYPES)
def test_scatter_writes_and_scatter_add_adds(dtype: torch.dtype, layout: str, indices: torch.Tensor) -> None:
    a, plain = filled(dtype, layout), filled(dtype).clone()
    rows = torch.arange(36).view(2, 3, 6).to(dtype)
    wm.scatter(a, indices, rows)
    plain[indices.flatten().long()[1:]] = rows.view(6, 6)[1:]  # without the first of the two rows 3
    assert torch.equal(a, plain)
    wm.scatter_add(a, indices, rows)
    plain.index_add_(0, indices.flatten(), rows.view(6, 6))
    assert torch.equal(a, plain)


def test_many_rows_in_many_threads(threads: int) -> None:
    a = wm.create_tensor([5000, 128], [], torch.float32, True, [])
    a.copy_(torch.randn(5000, 128))
    plain = a.clone()
    indices = torch.randint(0, 5000, (20000,))
    assert torch.equal(wm.gather(a, indices), plain[indices])
    ones = torch.ones(20000, 128)
    wm.scatter_add(a, indices, ones)
    assert torch.allclose(a, plain + torch.bincount(indices, minlength=5000)[:, None], atol=1e-4)
    rows = torch.arange(20000.0)[:, None].expand(-1, 128)
    wm.scatter(a, indices, rows)
    last = {index: number for number, index in enumerate(indices.tolist())}
    assert all((a[index] == number).all() for index, number in last.items())


@pytest.mark.parametrize("dtype", [torch.int64, torch.float16], ids=["added here", "added by torch"])
@pytest.mark.parametrize("shape", [[7], [7, 2, 3], [7, 0]])
def test_rows_of_any_dimensions(shape: list[int], dtype: torch.dtype) -> None:
    a = wm.create_tensor(shape, [], dtype, True, [])
    a.copy_(torch.arange(a.numel()).view(shape))
    indices, before = torch.tensor([6, 0]), a.clone()
    assert torch.equal(wm.gather(a, indices), a[indices])
    wm.scatter_add(a, indices, torch.ones(2, *shape[1:], dtype=dtype))
    assert torch.equal(a[indices], before[indices] + 1)
    wm.scatter(a, torch.tensor(3), before[6])
    assert torch.equal(wm.gather(a, torch.tensor(3)), before[6])
    same = torch.tensor(2, dtype=torch.int32).expand(4)  # indices that lie in one place
    wm.scatter_add(a, same, before[5].expand(4, *shape[1:]))
    assert torch.equal(a[2], before[2] + 4 * before[5])
    assert wm.gather(a, torch.tensor([], dtype=torch.int64)).shape == (0, *shape[1:])


@pytest.mark.parametrize("wrong", [-1, 50, 1 << 31, -(1 << 40)])
@pytest.mark.parametrize("call", ["gather", "scatter", "scatter_add"])
def test_an_index_out_of_range_is_named_and_changes_nothing(call: str, wrong: int, threads: int) -> None:
    a = filled()
    before = a.clone()
    indices = torch.zeros(100_000, dtype=torch.int64)
    indices[77_777] = wrong
    indices[99_999] = 51
    arguments = (a, indices) if call == "gather" else (a, indices, torch.ones(100_000, 6))
    with pytest.raises(
        IndexError, match=f"index {wrong} at position 77777 is out of range: there are rows 0 to 49"
    ):
        getattr(wm, call)(*arguments)
    assert torch.equal(a, before)


@pytest.mark.parametrize(
    ("indices", "rows", "kind", "text"),
    [
        ([1], torch.zeros(1, 6), TypeError, "indices is a list"),
        (torch.tensor([1.0]), torch.zeros(1, 6), TypeError, "indices is of torch.float32"),
        (torch.tensor([1]), torch.zeros(1, 5), ValueError, r"rows has shape \[1, 5\]; .* ask for \[1, 6\]"),
        (torch.tensor([1]), torch.zeros(1, 6, dtype=torch.float64), TypeError, "rows is of torch.float64"),
        (torch.tensor([1]), [1.0], TypeError, "rows is a list"),
    ],
)
def test_a_wrong_argument_is_named(indices: object, rows: object, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        wm.scatter(filled(), indices, rows)  # type: ignore[arg-type]


def test_two_ranks_add_to_rows_of_their_own_and_see_all() -> None:
    source = """
a = wm.create_tensor([100, 8], [], torch.float32, True, [])
mine = torch.arange(rank, 100, 2, dtype=torch.int32)
for _ in range(10):
    wm.scatter_add(a, mine, torch.full((50, 8), rank + 1.0))
wm.barrier()
result = wm.gather(a, torch.tensor([0, 1, 98, 99])).sum(1).tolist()
wm.barrier()
"""
    assert results(source) == [[80, 160, 80, 160]] * 2


@pytest.mark.parametrize("sparse", [True, False])
def test_an_embedding_trains_the_shared_table_as_torchs(sparse: bool, indices: torch.Tensor) -> None:
    table = wm.create_tensor([50, 6], [], torch.float32, True, [])
    table.copy_(torch.randn(50, 6))
    theirs = torch.nn.Embedding(50, 6, sparse=sparse, _weight=table.clone())
    ours = wm.Embedding(table, sparse=sparse)
    for module in (ours, theirs):
        optimizer = torch.optim.SGD(module.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            module(indices.long() if module is theirs else indices).pow(2).sum().backward()
            optimizer.step()
    assert torch.allclose(table, theirs.weight.detach())
    assert ours.weight.data_ptr() == table.data_ptr()


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
@pytest.mark.parametrize("flat", [True, False])
def test_bags_are_torchs(mode: str, flat: bool) -> None:
    table = wm.create_tensor([50, 6], [], torch.float64, True, [])
    table.copy_(torch.randn(50, 6))
    ours = wm.EmbeddingBag(table, mode=mode)
    theirs = torch.nn.EmbeddingBag(50, 6, mode=mode, _weight=table.clone())
    arguments = (
        (torch.tensor([4, 9, 4, 0, 49]), torch.tensor([0, 2, 2]))
        if flat
        else (torch.tensor([[4, 9], [4, 0]]),)
    )
    for module in (ours, theirs):
        module(*arguments).pow(2).sum().backward()
    assert torch.allclose(ours(*arguments), theirs(*arguments))
    assert ours.weight.grad is not None
    assert theirs.weight.grad is not None
    assert torch.allclose(ours.weight.grad.to_dense(), theirs.weight.grad)


def test_bags_have_weights_with_sum() -> None:
    table = wm.create_tensor([50, 6], [], torch.float32, True, [])
    table.fill_(2)
    weights = torch.tensor([[0.5, 1.0], [0.0, 3.0]])
    found = wm.EmbeddingBag(table, mode="sum")(torch.tensor([[1, 2], [3, 1]]), per_sample_weights=weights)
    assert found[:, 0].tolist() == [3, 6]
    with pytest.raises(ValueError, match="per_sample_weights are for mode 'sum'"):
        wm.EmbeddingBag(table)(torch.tensor([[1]]), per_sample_weights=weights)


def test_indices_out_of_range_of_an_embedding_are_named() -> None:
    with pytest.raises(IndexError, match="index 50 at position 1"):
        wm.Embedding(filled())(torch.tensor([0, 50]))
    with pytest.raises(IndexError, match="index 50 "):
        wm.EmbeddingBag(filled())(torch.tensor([[0, 50]]))
