"""The settings of a server's optimizer: their limits, as a param group of torch, for schedulers, in other processes."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
import torch
from torch.optim import lr_scheduler

import pyps
from tests.pyps.conftest import Program, finish


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("SGD", {"lr": -1}, r"lr is -1; it must be in \[0, inf\)"),
        ("SGD", {"lr": float("nan")}, r"lr is nan; it must be in \[0, inf\)"),
        ("SGD", {"momentum": float("inf")}, r"momentum is inf; it must be in \[0, inf\)"),
        ("SGD", {"nesterov": True}, "nesterov requires a momentum and no dampening; they are 0 and 0"),
        ("SGD", {"nesterov": True, "momentum": 0.9, "dampening": 0.1}, "they are 0.9 and 0.1"),
        ("Adagrad", {"eps": -1e-3}, r"eps is -0.001; it must be in \[0, inf\)"),
        ("RowwiseAdagrad", {"weight_decay": -2}, r"weight_decay is -2; it must be in \[0, inf\)"),
        ("Adam", {"betas": (0.9, 1.0)}, r"beta2 is 1; it must be in \[0, 1\)"),
        ("Adam", {"betas": (0.9,)}, "betas has 1 numbers; it must have 2"),
        ("AdamW", {"betas": (-0.1, 0.9)}, r"beta1 is -0.1; it must be in \[0, 1\)"),
        ("RMSprop", {"alpha": 1}, r"alpha is 1; it must be in \[0, 1\)"),
        ("FTRL", {"lr": 0}, r"lr is 0; for ftrl it must be in \(0, inf\)"),
        ("FTRL", {"l1": -1}, r"l1 is -1; it must be in \[0, inf\)"),
    ],
)
def test_wrong_numbers_are_named_with_their_limits(
    name: str, options: dict[str, object], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        getattr(pyps.optim, name)(**options)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("adagrat", "optimizer adagrat is unknown; there are sgd, adagrad, rowwise_adagrad, adam,"),
        ("adagrad:momentum=1", "adagrad has no momentum; it has lr, weight_decay,"),
        ("adagrad:lr", "'lr' is no setting; write one as lr=0.1"),
        ("adagrad:lr=fast", "lr is 'fast'; it must be a number"),
        ("adagrad:lr=0.1x", "lr is '0.1x'; it must be a number"),
        ("adagrad:maximize=2", "maximize is 2; it must be 0 or 1"),
        ("add", "optimizer add is unknown"),
    ],
)
def test_wrong_texts_are_named(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        pyps.Server(1, 1, optimizer=text)


def test_what_is_no_optimizer_is_refused() -> None:
    with pytest.raises(TypeError, match=r"one of pyps\.optim or its text, not SGD"):
        pyps.Server(1, 1, optimizer=torch.optim.SGD([torch.zeros(1, requires_grad=True)]))  # type: ignore[arg-type]


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_whole_numbers_have_no_optimizer(dtype: str) -> None:
    with pytest.raises(ValueError, match=f"rule adam is not for {dtype}"):
        pyps.Server(1, 1, dtype=dtype, optimizer="adam")


def test_a_group_is_what_the_server_has() -> None:
    optimizer = pyps.optim.Adam(lr=0.5, betas=(0.5, 0.9))
    with pyps.Server(1, 1, dtype="float64", optimizer=optimizer) as server, server.worker() as kv:
        assert server.optimizer is optimizer
        (group,) = optimizer.param_groups
        assert (group["lr"], group["betas"], group["amsgrad"], group["params"]) == (
            0.5,
            (0.5, 0.9),
            False,
            [],
        )
        kv.push([0], [1.0])
        group["lr"] = 0.25
        kv.push([0], [1.0])
        assert kv.pull([0])[0, 0] == pytest.approx(-0.75, abs=1e-7)
        server.tune("lr=0.125,beta2=0.8")
        assert (group["lr"], group.get("betas"), dict(group)["lr"]) == (0.125, (0.5, 0.8), 0.125)
        assert (dict(group.items())["lr"], list(group.values())[1], {**group}["lr"]) == (0.125, 0.125, 0.125)
        assert server.optimizer_text() == optimizer.text
    assert group["lr"] == 0.125  # also when the server has ended
    group["lr"] = 1.0
    assert group["lr"] == 1.0


def test_a_wrong_change_changes_nothing() -> None:
    with pyps.Server(1, 1, optimizer=pyps.optim.SGD(lr=0.5)) as server:
        assert server.optimizer is not None
        (group,) = server.optimizer.param_groups
        with pytest.raises(ValueError, match=r"weight_decay is -1; it must be in \[0, inf\)"):
            group.update(lr=0.25, weight_decay=-1)
        with pytest.raises(
            ValueError, match=r"momentum is 0 and cannot become 0\.9: what is kept beside each value"
        ):
            group["momentum"] = 0.9
        with pytest.raises(TypeError, match="lr must be a number, not str"):
            group["lr"] = "fast"
        assert (group["lr"], group["weight_decay"], group["momentum"]) == (0.5, 0, 0)


def test_a_server_that_adds_has_nothing_to_change() -> None:
    with pyps.Server(1, 1) as server:
        assert server.optimizer is None
        with pytest.raises(ValueError, match="the server has no optimizer: what is pushed is added"):
            server.tune("lr=1")


def test_an_optimizer_belongs_to_one_server() -> None:
    optimizer = pyps.optim.SGD()
    with pyps.Server(1, 1, optimizer=optimizer), pytest.raises(ValueError, match="that of another server"):
        pyps.Server(1, 1, optimizer=optimizer)
    with pyps.Server(1, 1, optimizer=optimizer) as server:
        assert server.optimizer is optimizer


def test_each_table_is_a_group() -> None:
    """Its settings are the optimizer's first ones, or those that it was given before; each changes by itself."""
    optimizer = pyps.optim.SGD(lr=0.5)
    optimizer.add_param_group({"table": "slow", "lr": 0.125, "weight_decay": 0.5})
    with pyps.Server(1, 1, optimizer=optimizer) as server, server.worker() as kv:
        optimizer.param_groups[0]["lr"] = 2.0
        tables = [server.table(name, dim=1, optimizer=optimizer) for name in ("slow", "fast")]
        found = [(group["table"], group["lr"], group["weight_decay"]) for group in optimizer.param_groups]
        assert found == [("", 2.0, 0), ("slow", 0.125, 0.5), ("fast", 0.5, 0)]
        optimizer.param_groups[2]["lr"] = 4.0
        kv.push([0], [1.0])
        for table in tables:
            kv.table(table.name).push([7], [1.0])
        assert [kv.pull([0])[0, 0], *(kv.table(t.name).pull([7])[0, 0] for t in tables)] == [-2, -0.125, -4]
        assert [table.optimizer for table in tables] == [optimizer, optimizer]
        again = server.table("fast", dim=1, optimizer=optimizer)  # is the table that was made before
        assert [text.split(",")[0] for text in (again.optimizer_text(), optimizer.text)] == [
            "sgd:lr=4",
            "sgd:lr=2",
        ]
        assert len(optimizer.param_groups) == 3
        assert repr(optimizer).count("lr=") == 3
        scheduler = lr_scheduler.StepLR(optimizer, step_size=1, gamma=0.5)
        optimizer.step()
        scheduler.step()
        assert [group["lr"] for group in optimizer.param_groups] == [1.0, 0.0625, 2.0]
        texts = [node.optimizer_text() for node in (server, *tables)]
        assert [text.split(",")[0] for text in texts] == ["sgd:lr=1", "sgd:lr=0.0625", "sgd:lr=2"]


def test_an_optimizer_may_be_a_tables_alone() -> None:
    with pyps.Server(1, 1) as server:
        users = server.table("users", dim=1, optimizer=pyps.optim.SGD(lr=0.25))
        assert users.optimizer is not None
        (group,) = users.optimizer.param_groups
        assert (group["table"], group["lr"]) == ("users", 0.25)
        with pyps.attach(server.address) as there, there.table("users") as same:
            assert same.optimizer is not None
            same.optimizer.param_groups[0]["lr"] = 0.5
        assert group["lr"] == 0.5


@pytest.mark.parametrize(
    ("group", "message"),
    [
        ({"params": [torch.zeros(1)]}, "has a table, and no tensors"),
        ({"lr": 0.1}, "names its table"),
        ({"table": "users"}, "table 'users' has a param group"),
        ({"table": "items", "lr": -1.0}, r"lr is -1; it must be in \[0, inf\)"),
    ],
)
def test_what_is_no_group_is_refused(group: dict[str, object], message: str) -> None:
    optimizer = pyps.optim.SGD()
    optimizer.add_param_group({"table": "users", "params": []})
    with pytest.raises(ValueError, match=message):
        optimizer.add_param_group(group)
    assert len(optimizer.param_groups) == 2


def test_tables_of_another_server_are_not_a_group() -> None:
    optimizer = pyps.optim.SGD()
    with pyps.Server(1, 1, optimizer=optimizer), pyps.Server(1, 1) as other:
        with pytest.raises(ValueError, match="that of another server"):
            other.table("users", dim=1, optimizer=optimizer)
        assert other.table_names() == []


def test_the_state_of_several_groups_is_loaded_by_table() -> None:
    saved = []
    for rate in (0.5, 0.25):
        optimizer = pyps.optim.SGD(lr=rate)
        with pyps.Server(1, 1, optimizer=optimizer) as server:
            server.table("users", dim=1, optimizer=optimizer)
            saved.append(optimizer.state_dict())
            optimizer.load_state_dict(saved[0])
            assert [group["lr"] for group in optimizer.param_groups] == [0.5, 0.5]
            with pytest.raises(ValueError, match="not the state of 2 groups with lr, "):
                optimizer.load_state_dict(pyps.optim.SGD().state_dict())
            saved[0]["param_groups"].reverse()
            with pytest.raises(ValueError, match="the state of table 'users', not of ''"):
                optimizer.load_state_dict(saved[0])
            saved[0]["param_groups"].reverse()
    assert [group["lr"] for group in saved[1]["param_groups"]] == [0.25, 0.25]


def test_states_are_saved_and_loaded() -> None:
    saved = pyps.optim.Adam(lr=0.5, betas=(0.1, 0.2)).state_dict()
    assert saved == pickle.loads(pickle.dumps(saved))
    with pyps.Server(1, 1, optimizer=pyps.optim.Adam()) as server:
        assert server.optimizer is not None
        server.optimizer.load_state_dict(saved)
        assert server.optimizer_text().startswith("adam:lr=0.5,")
        assert server.optimizer.param_groups[0]["betas"] == (0.1, 0.2)
        with pytest.raises(ValueError, match="not the state of one group with lr, betas, "):
            server.optimizer.load_state_dict(pyps.optim.SGD().state_dict())


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda optimizer: pickle.loads(pickle.dumps(optimizer))])
def test_a_copy_has_the_settings_and_no_server(copied: object) -> None:
    with pyps.Server(1, 1, optimizer=pyps.optim.RMSprop(lr=0.5, centered=True)) as server:
        assert callable(copied)
        other = copied(server.optimizer)
        assert server.optimizer is not None
        assert other.text == server.optimizer.text
        other.param_groups[0]["lr"] = 0.25
        assert server.optimizer.param_groups[0]["lr"] == 0.5


def test_schedulers_of_torch_work_on_it() -> None:
    """The same learning rates and momenta as with an optimizer of torch."""

    def rates(optimizer: torch.optim.Optimizer) -> list[tuple[float, float]]:
        seen = []
        schedulers = [
            lr_scheduler.LinearLR(optimizer, 0.1, total_iters=3),
            lr_scheduler.StepLR(optimizer, step_size=4, gamma=0.5),
            lr_scheduler.OneCycleLR(optimizer, max_lr=1.0, total_steps=20),
        ]
        for _ in range(10):
            optimizer.zero_grad()
            optimizer.step()
            for scheduler in schedulers:
                scheduler.step()
            group = optimizer.param_groups[0]
            seen.append((group["lr"], group["momentum"]))
        plateau = lr_scheduler.ReduceLROnPlateau(optimizer, patience=0)
        for _ in range(3):
            plateau.step(1.0)
        return [*seen, (optimizer.param_groups[0]["lr"], 0)]

    ours = pyps.optim.SGD(lr=0.5, momentum=0.9)
    with pyps.Server(1, 1, optimizer=ours) as server:
        found = rates(ours)
        assert server.optimizer_text() == ours.text
    assert found == rates(torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.5, momentum=0.9))


def test_a_step_calls_its_closure() -> None:
    optimizer = pyps.optim.SGD()
    assert optimizer.step() is None
    assert optimizer.step(lambda: 3.5) == 3.5


@pytest.mark.long
def test_other_processes_see_and_change_the_settings(program: Program) -> None:
    with pyps.Server(1, 1, optimizer=pyps.optim.SGD(lr=0.5)) as server, server.worker() as kv:
        process = program(
            "node = pyps.attach(sys.argv[1])\n"
            "group = node.optimizer.param_groups[0]\n"
            "print(type(node.optimizer).__name__, group['lr'])\n"
            "group['lr'] = 2.0\n",
            server.address,
        )
        assert finish(process) == "SGD 0.5\n"
        assert server.optimizer is not None
        assert server.optimizer.param_groups[0]["lr"] == 2.0
        kv.push([0], [1.0])
        assert kv.pull([0]) == -2.0


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("bad", [float("nan"), float("inf"), -float("inf")])
def test_gradients_that_are_not_finite_are_refused_if_asked(dtype: str, bad: float) -> None:
    length = 37
    with (
        pyps.Server(9, length, dtype=dtype, optimizer=pyps.optim.Adagrad(refuse_nan=True)) as server,
        server.worker() as kv,
    ):
        for at in (0, length - 1):
            gradients = torch.ones((3, length), dtype=getattr(torch, dtype))
            gradients[1, at] = bad
            with pytest.raises(
                ValueError, match=r"key 5 at position 1 has a NaN or an infinite number; nothing"
            ):
                kv.push([2, 5, 7], gradients)
            with pytest.raises(ValueError, match=r"key 5 at position 0 has"):  # where the key comes first
                kv.push([5, 5, 7], gradients)
        assert not torch.as_tensor(kv.pull(np.arange(9))).any()
        server.tune("refuse_nan=0")
        kv.push([2, 5, 7], gradients)
        assert torch.as_tensor(kv.pull([5])).isnan().any()


def test_a_sum_beyond_all_numbers_is_refused_if_asked() -> None:
    with pyps.Server(1, 1, dtype="float16", optimizer="sgd:refuse_nan=1") as server, server.worker() as kv:
        kv.push([0], np.full(1, 60000, "float16"))
        with pytest.raises(ValueError, match="key 0 at position 0"):
            kv.push([0, 0], np.full(2, 60000, "float16"))
