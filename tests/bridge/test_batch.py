"""A file's model on batches: one load per process, results that are owned, errors with names."""

from __future__ import annotations

import multiprocessing
import os
import pickle
import threading
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import bridge
from bridge.batch import BatchError, BatchModel

COUNTED = "local log = io.open('%s', 'a') log:write('x') log:close() function twice(x) return x * 2 end"


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], str]:
    """What writes a Lua file."""

    def write(code: str) -> str:
        (tmp_path / "model.lua").write_text(code)
        return str(tmp_path / "model.lua")

    return write


@pytest.fixture
def counted(written: Callable[[str], str], tmp_path: Path) -> tuple[str, Path]:
    """A model that writes down when it is loaded, and where."""
    return written(COUNTED % (tmp_path / "loads")), tmp_path / "loads"


def test_it_pickles_and_is_loaded_once_in_a_process(counted: tuple[str, Path]) -> None:
    file, loads = counted
    for _ in range(3):
        model = pickle.loads(pickle.dumps(BatchModel(file)))
        assert model(np.array([1.0, 2.0])).tolist() == [2, 4]
    assert loads.read_text() == "x"


def test_threads_that_need_a_model_at_once_share_one(counted: tuple[str, Path]) -> None:
    file, loads = counted
    model, together, found = BatchModel(file), threading.Barrier(4), []

    def work() -> None:
        together.wait(30)
        found.extend(model(np.full(3, 1.0)).tolist() for _ in range(50))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found == [[2, 2, 2]] * 200
    assert loads.read_text() == "x"


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_another_process_loads_its_own(counted: tuple[str, Path], method: str) -> None:
    file, loads = counted
    model = BatchModel(file)
    model(1.0)
    process = multiprocessing.get_context(method).Process(target=_called, args=(model,))
    process.start()
    process.join(60)
    assert (process.exitcode, loads.read_text()) == (0, "xx")


def _called(model: BatchModel) -> None:
    os._exit(model(21.0) != 42)


def test_a_changed_file_is_loaded_anew(written: Callable[[str], str]) -> None:
    assert BatchModel(written("function f(x) return x end"))(3.0) == 3
    assert BatchModel(written("function f(x) return -x end"))(3.0) == -3


def test_functions_and_networks_are_chosen_by_name(written: Callable[[str], str], tmp_path: Path) -> None:
    file = written("function one() return 1 end function two() return 2 end")
    assert (BatchModel(file, "one")(), BatchModel(file, "two")()) == (1, 2)
    net = str(tmp_path / "nets.t7")
    with bridge.Lua() as lua:
        lua.execute("require 'nn' torch.save(..., {a = nn.Identity(), b = nn.MulConstant(2)})", net)
    assert BatchModel(net, key="b")(np.ones(2)).tolist() == [2, 2]


def test_several_inputs_of_a_network_are_one_table(tmp_path: Path) -> None:
    """Also where its layers do not tell how many there are."""
    net = str(tmp_path / "graph.t7")
    with bridge.Lua() as lua:
        code = "require 'nngraph' local a, b = nn.Identity()(), nn.Identity()() "
        lua.execute(f"{code} torch.save(..., nn.gModule({{a, b}}, {{nn.CSubTable()({{a, b}})}}))", net)
    assert BatchModel(net)(np.full(2, 5.0), np.ones(2)).tolist() == [4, 4]


@pytest.mark.slow
def test_a_program_of_pytorch_is_a_model_too(tmp_path: Path) -> None:
    import torch

    rows = torch.export.Dim("rows")
    double = torch.nn.Linear(2, 2, bias=False).requires_grad_(False)
    double.weight.copy_(2 * torch.eye(2))
    program = torch.export.export(double, (torch.ones(3, 2),), dynamic_shapes=({0: rows},))
    torch.export.save(program, tmp_path / "double.pt2")
    assert BatchModel(str(tmp_path / "double.pt2"))(np.ones((5, 2))).tolist() == [[2, 2]] * 5


def test_results_are_owned(tmp_path: Path) -> None:
    """Also those inside tables, of a network that fills the same buffers at each call."""
    net = str(tmp_path / "net.t7")
    with bridge.Lua() as lua:
        lua.execute(
            "require 'nn' torch.save(..., nn.ConcatTable():add(nn.MulConstant(2)):add(nn.Tanh()))", net
        )
    model = BatchModel(net)
    first = model(np.ones((2, 2)))
    model(np.zeros((2, 2)))
    assert [part.tolist() for part in first] == [[[2, 2]] * 2, [[np.tanh(1)] * 2] * 2]


def test_texts_come_as_a_table(written: Callable[[str], str]) -> None:
    model = BatchModel(written("function joined(t) return table.concat(t, '+') end"))
    assert model(np.array(["a", "é"], object)) == model(["a", "é"]) == model(np.array(["a", "é"])) == "a+é"


def test_an_error_names_the_file_the_function_and_the_batch(written: Callable[[str], str]) -> None:
    file = written("function f(x) error('too warm') end")
    with pytest.raises(BatchError) as caught:
        BatchModel(file, "f")(np.ones((5, 2)), ["a"])
    assert str(caught.value).startswith(f"f of {file} failed on a batch of float64[5, 2], <U1[1]: ")
    assert "too warm" in str(caught.value)
    assert isinstance(caught.value.__cause__, bridge.LuaError)
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("function f(", "expected near '<eof>'"),
        ("function f() end function g() end", "defines several functions; it has f, g"),
        ("x = 1", "it has none"),
    ],
    ids=["syntax", "several", "none"],
)
def test_what_does_not_load_is_named(written: Callable[[str], str], code: str, said: str) -> None:
    file = written(code)
    with pytest.raises(BatchError) as caught:
        BatchModel(file)(1.0)
    assert f"the model of {file} cannot be loaded: " in str(caught.value)
    assert said in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(BatchError, match=r"the model at a\.b of .*none\.t7 cannot be loaded"):
        BatchModel(str(tmp_path / "none.t7"), key="a.b")(1.0)
