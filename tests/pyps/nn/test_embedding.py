"""`pyps.nn.Embedding` beside `torch.nn.Embedding`."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import pytest
import torch

import pyps
from tests.pyps.nn import twins
from tests.pyps.nn.twins import DIM, NUM, SPACES, batches, num_of, same, train_both, twin, worker
from tests.pyps.optimizers import CASES


def sgd(parameters: Any) -> torch.optim.Optimizer:
    return torch.optim.SGD(parameters, lr=0.1)


@pytest.mark.parametrize("case", CASES)
def test_each_optimizer_steps_as_torchs(case: str) -> None:
    ours, theirs = CASES[case]
    with worker() as kv:
        module = pyps.nn.Embedding(NUM, DIM, kv, optimizer=ours())
        train_both(module, twin(module), theirs, [(ids, ()) for ids in batches()])


@pytest.mark.parametrize("nodes", [1, 2])
@pytest.mark.parametrize("space", SPACES)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"padding_idx": 3},
        {"scale_grad_by_freq": True},
        {"max_norm": 1.5},
        {"max_norm": 3.0, "norm_type": 1.0},
        {"padding_idx": 2, "max_norm": 1.5, "scale_grad_by_freq": True},
    ],
    ids=str,
)
def test_steps_are_those_of_torch(options: dict[str, Any], space: str, nodes: int) -> None:
    ours = dict(options)
    if "padding_idx" in ours:
        ours["padding_idx"] = int(SPACES[space](torch.tensor(options["padding_idx"])))
    with worker(nodes) as kv:
        module = pyps.nn.Embedding(num_of(space), DIM, kv, optimizer="sgd:lr=0.1", **ours)
        if space == "any" and "padding_idx" in options:  # at the server only as this test asks for it
            kv.table("embedding").set([ours["padding_idx"]], torch.zeros(1, DIM))
        train_both(module, twin(module, space, **options), sgd, [(ids, ()) for ids in batches()], space)


@pytest.mark.parametrize("kind", ["Adagrad", "SparseAdam"])
def test_steps_are_those_of_sparse_gradients(kind: str) -> None:
    """With other ids in each batch: of a row that a batch does not have nothing changes."""
    optimizer = {"Adagrad": "adagrad:lr=0.1,eps=1e-14", "SparseAdam": "adam:lr=0.1,eps=1e-14"}[kind]
    inputs = [torch.tensor([[1, 2], [2, 7]])] * 3
    # The eps of SparseAdam is not corrected as Adam's is.
    if kind == "Adagrad":  # SparseAdam counts the steps of all rows together
        inputs += [torch.tensor([4, 7]), torch.tensor([1, 1, 5])]
    with worker() as kv, torch.sparse.check_sparse_tensor_invariants(True):  # type: ignore[no-untyped-call]
        module = pyps.nn.Embedding(NUM, DIM, kv, optimizer=optimizer)
        theirs = twin(module, sparse=True)
        train_both(
            module,
            theirs,
            lambda rows: getattr(torch.optim, kind)(list(rows), lr=0.1, eps=1e-14),
            [(ids, ()) for ids in inputs],
        )


@pytest.mark.parametrize("dtype", [torch.float64, torch.float16, torch.bfloat16])
def test_rows_have_the_dtype_of_the_table(dtype: torch.dtype) -> None:
    with worker() as kv:
        module = pyps.nn.Embedding(NUM, DIM, kv, optimizer="sgd:lr=0.1", dtype=dtype)
        assert module(torch.tensor([1])).dtype == dtype
        assert module.state_dict()["weight"].dtype == dtype
        theirs = twin(module).to(torch.float64)
        tolerance = {torch.float64: 1e-12, torch.float16: 0.03, torch.bfloat16: 0.2}[dtype]
        train_both(module, theirs, sgd, [(ids, ()) for ids in batches()], tolerance=tolerance)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.bfloat16])
def test_a_model_around_it_trains_under_autocast(dtype: torch.dtype) -> None:
    with worker() as kv:
        module = pyps.nn.Embedding(NUM, DIM, kv, optimizer="sgd:lr=0.1", dtype=dtype)
        linear = torch.nn.Linear(DIM, 1)
        before = module(torch.tensor([1])).float()
        with torch.autocast("cpu", torch.bfloat16):
            output = linear(module(torch.tensor([1])))
        assert output.dtype == torch.bfloat16
        output.sum().backward()
        expected = before - 0.1 * linear.weight.detach()
        same(module(torch.tensor([1])).float().detach(), expected.detach(), 0.03)


@pytest.mark.parametrize("padding", [-1, 5])
def test_padding_among_any_numbers_is_zeros_and_no_key(padding: int) -> None:
    with worker() as kv:
        module = pyps.nn.Embedding(None, DIM, kv, optimizer="sgd:lr=0.1", padding_idx=padding)
        rows = module(torch.tensor([[padding, 7], [7, padding]]))
        assert not rows[[0, 1], [0, 1]].any()
        rows.sum().backward()
        assert not module(torch.tensor([padding])).any()
        assert module.kv.contains([7]).tolist() == [True]
        assert module.table.stats()["keys_held"] == 1


def test_a_negative_padding_counts_from_the_end() -> None:
    with worker() as kv:
        module = pyps.nn.Embedding(NUM, DIM, kv, optimizer="sgd:lr=0.1", padding_idx=-2)
        assert module.padding_idx == NUM - 2
        assert not module(torch.tensor([NUM - 2])).any()


def test_only_the_module_that_makes_a_table_begins_its_padding() -> None:
    with worker() as kv:
        options: dict[str, Any] = {"optimizer": "sgd:lr=0.1", "padding_idx": 1}
        module = pyps.nn.Embedding(NUM, DIM, kv, **options)
        module.kv.set([1], torch.ones(1, DIM))
        assert pyps.nn.Embedding(NUM, DIM, kv, **options)(torch.tensor([1])).eq(1).all()


@pytest.mark.parametrize("how", ["eval", "no_grad", "inference", "frozen"])
def test_nothing_is_pushed_outside_of_training(how: str) -> None:
    with worker() as kv:
        module = pyps.nn.Embedding(NUM, DIM, kv, optimizer="sgd:lr=0.1", max_norm=0.1)
        before = twins.rows_of(module)
        if how == "eval":
            module.eval()
        if how == "frozen":
            module.requires_grad_(False)
        contexts = {"no_grad": torch.no_grad, "inference": torch.inference_mode}
        with contexts.get(how, nullcontext)():
            rows = module(torch.tensor([1, 2]))
        assert not rows.requires_grad
        assert 0 < rows.norm(dim=1).max() < 0.1 + 1e-6
        assert torch.equal(twins.rows_of(module), before)


def test_a_batch_that_the_loss_does_not_use_is_no_step() -> None:
    with worker() as kv:
        module = pyps.nn.Embedding(NUM, DIM, kv, optimizer="adam:lr=0.1")
        scale = torch.ones(1, requires_grad=True)
        rows = module(torch.tensor([1]))
        torch.autograd.grad((rows * scale).sum(), scale)
        assert module.kv.stats()["pushes"] == 0


@pytest.mark.parametrize("ids", [torch.tensor(3), torch.empty(2, 0, dtype=torch.int64), torch.ones(2, 3, 4)])
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
@pytest.mark.parametrize("nodes", [1, 2])
def test_ids_may_have_any_shape(ids: torch.Tensor, dtype: torch.dtype, nodes: int) -> None:
    with worker(nodes) as kv:
        module = pyps.nn.Embedding(NUM, DIM, kv, optimizer="sgd:lr=0.1")
        rows = module(ids.to(dtype))
        assert rows.shape == (*ids.shape, DIM)
        rows.sum().backward()


def test_what_it_returns_may_be_written_to() -> None:
    with worker() as kv:
        module = pyps.nn.Embedding(NUM, DIM, kv, optimizer="sgd:lr=1")
        before = twins.rows_of(module)
        module(torch.tensor([1, 2])).mul_(2).sum().backward()
        assert torch.equal(twins.rows_of(module)[[1, 2]], before[[1, 2]] - 2)


def test_rows_begin_normally_distributed_and_otherwise_in_each_table() -> None:
    with worker() as kv:
        first = pyps.nn.Embedding(1000, 64, kv, optimizer="sgd:lr=1", name="first")
        second = pyps.nn.Embedding(1000, 64, kv, optimizer="sgd:lr=1", name="second")
        a, b = (module(torch.arange(1000)).detach().flatten() for module in (first, second))
        assert abs(a.mean()) < 0.02
        assert abs(a.std() - 1) < 0.02
        assert abs((a * b).mean()) < 0.02


def test_a_worker_of_a_table_has_the_rows_of_that_table() -> None:
    with pyps.Server(1) as server, server.worker() as kv:
        server.table("users", dim=DIM, num_keys=NUM, optimizer="sgd:lr=1", initializer="constant:value=5")
        module = pyps.nn.Embedding(NUM, DIM, kv.table("users"))
        module(torch.tensor([1, 1])).sum().backward()
        assert twins.rows_of(module)[:2].tolist() == [[5] * DIM, [3] * DIM]


def test_a_table_may_have_texts_as_keys() -> None:
    with pyps.Server(1) as server, server.worker() as kv:
        server.table("users", dim=DIM, hash="xxh64", optimizer="sgd:lr=1")
        module = pyps.nn.Embedding(None, DIM, kv.table("users"))
        module(torch.from_numpy(pyps.hashed_keys(["anna", "otto"]))).sum().backward()
        assert kv.table("users").pull(["otto"]).tolist() == [[-1] * DIM]


def test_a_worker_with_a_server_of_its_own_has_tables_as_well() -> None:
    with pyps.local(num_keys=1) as kv:
        module = pyps.nn.Embedding(NUM, DIM, kv, optimizer="sgd:lr=1", initializer="constant:value=0")
        module(torch.tensor([1])).sum().backward()
        assert twins.rows_of(module)[1].tolist() == [-1] * DIM


def test_a_scheduler_of_the_optimizer_changes_what_steps_do() -> None:
    with worker() as kv:
        optimizer = pyps.optim.SGD(lr=1)
        module = pyps.nn.Embedding(NUM, DIM, kv, optimizer=optimizer, initializer="constant:value=0")
        scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.5)
        for _ in range(3):
            module(torch.tensor([1])).sum().backward()
            optimizer.step()
            scheduler.step()
        assert twins.rows_of(module)[1].tolist() == [-1.75] * DIM


def test_its_text_says_what_it_is() -> None:
    with worker() as kv:
        module = pyps.nn.Embedding(NUM, DIM, kv, optimizer="sgd:lr=1", padding_idx=0, max_norm=2.0)
        assert repr(module) == "Embedding(12, 6, padding_idx=0, max_norm=2.0, table 'embedding')"
