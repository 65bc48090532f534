"""Models in files as something to call: which function or network is meant, and what it takes."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import bridge
from bridge import models


@pytest.fixture
def stored(tmp_path: Path) -> Callable[[str], Path]:
    """What saves a value of Lua to a file."""

    def save(code: str) -> Path:
        file = tmp_path / "model.t7"
        with bridge.Lua() as lua:
            lua.execute(f"require 'nn' torch.manualSeed(1) torch.save(..., {code})", str(file))
        return file

    return save


@pytest.fixture
def written(tmp_path: Path) -> Callable[[str], Path]:
    """What writes a Lua file."""

    def write(code: str) -> Path:
        file = tmp_path / "model.lua"
        file.write_text(code)
        return file

    return write


ONES = "(function() local m = nn.Linear(2, 3) m.weight:fill(1) m.bias:fill(0) return m end)()"


@pytest.mark.parametrize("given", [[1, 2], [1.0, 2.0], np.array([1.0, 2.0])], ids=["ints", "floats", "array"])
@pytest.mark.parametrize(("kind", "dtype"), [("float", np.float32), ("double", np.float64)])
def test_a_network_takes_lists_and_arrays(
    lua: bridge.Lua, stored: Callable[[str], Path], kind: str, dtype: type, given: object
) -> None:
    call = models.call(lua, stored(f"{ONES}:{kind}()"))
    result = call(given.astype(dtype) if isinstance(given, np.ndarray) else given)
    assert (result.tolist(), result.dtype) == ([3, 3, 3], dtype)


def test_a_list_of_arrays_is_a_table(lua: bridge.Lua, stored: Callable[[str], Path]) -> None:
    call = models.call(lua, stored("nn.CAddTable()"))
    assert call([np.ones(2), np.ones(2)]).tolist() == [2, 2]


def test_a_network_is_called_in_evaluation_mode(lua: bridge.Lua, stored: Callable[[str], Path]) -> None:
    call = models.call(lua, stored("nn.Sequential():add(nn.Dropout(0.9))"))
    assert call([1, 2, 3, 4]).tolist() == [1, 2, 3, 4]


def test_a_key_chooses_among_networks(lua: bridge.Lua, stored: Callable[[str], Path]) -> None:
    file = stored(f"{{protos = {{one = nn.Identity(), two = {ONES}}}}}")
    with pytest.raises(ValueError, match=r"several networks \('protos.*key="):
        models.call(lua, file)
    assert models.call(lua, file, key="protos.two")([1, 2]).tolist() == [3, 3, 3]
    with pytest.raises(ValueError, match="there is no 'three'; there is "):
        models.call(lua, file, key="protos.three")


def test_another_method_may_be_called(lua: bridge.Lua, stored: Callable[[str], Path]) -> None:
    file = stored(ONES)
    weights, _ = models.call(lua, file, function="parameters")()[0]
    assert weights.tolist() == [[1, 1]] * 3
    with pytest.raises(ValueError, match=r"nn\.Linear has no method 'predict'"):
        models.call(lua, file, function="predict")


@pytest.mark.parametrize("layer", ["nn.FastLSTM(2, 3)", "nn.gModule({i}, {o})", "cudnn.ReLU()"])
def test_what_a_class_needs_is_required(lua: bridge.Lua, tmp_path: Path, layer: str) -> None:
    file = tmp_path / "model.t7"
    with bridge.Lua() as other:
        code = "require 'rnn' require 'nngraph' require 'cudnn' i = nn.Identity()() o = nn.Tanh()(i) torch.save(..., "
        other.execute(f"{code}{layer})", str(file))
    assert np.isfinite(models.call(lua, file)([[0.5, 1.0]])).all()


def test_no_package_is_required_in_vain(lua: bridge.Lua, stored: Callable[[str], Path]) -> None:
    models.call(lua, stored(ONES))
    assert lua.eval("package.loaded.nn ~= nil and package.loaded.rnn == nil and package.loaded.cudnn == nil")


@pytest.mark.parametrize("code", ["torch.ones(2)", "nn.MSECriterion()", "3", "'text'"])
def test_what_is_no_network_is_refused(lua: bridge.Lua, stored: Callable[[str], Path], code: str) -> None:
    with pytest.raises(ValueError, match=r"model\.t7 holds no network, but a "):
        models.call(lua, stored(code))


def test_classes_of_the_program_s_own_are_named(lua: bridge.Lua, tmp_path: Path) -> None:
    with bridge.Lua() as other:
        other.execute(
            "require 'nn' torch.class('Mine.Layer', 'nn.Module', {}) "
            "torch.save(..., torch.factory('Mine.Layer')())",
            str(tmp_path / "own.t7"),
        )
    with pytest.raises(bridge.LuaError, match=r"unknown Torch class <Mine\.Layer>"):
        models.call(lua, tmp_path / "own.t7")


# ---- Lua files


@pytest.mark.slow
def test_torch_is_imported_only_by_those_who_need_it(written: Callable[[str], Path]) -> None:
    """It takes a second."""
    code = (
        "import sys, bridge, bridge.serve\n"
        "from bridge import models\n"
        "with bridge.Lua() as lua:\n"
        "    assert models.call(lua, sys.argv[1])(4) == 8\n"
        "print('torch' in sys.modules)"
    )
    file = written("require 'nn' function double(x) return 2 * x end")
    done = subprocess.run(
        [sys.executable, "-c", code, file], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "False\n"


@pytest.mark.parametrize(
    "code",
    [
        "function double(x) return 2 * x end",
        "local M = {} function M.double(x) return 2 * x end return M",
        "require 'nn' local function help(x) return x end function double(x) return help(x) * 2 end size = 3",
    ],
    ids=["global", "table", "beside others"],
)
def test_the_only_function_of_a_file_is_meant(
    lua: bridge.Lua, written: Callable[[str], Path], code: str
) -> None:
    assert models.call(lua, written(code))(4) == 8


def test_one_of_several_functions_is_named(lua: bridge.Lua, written: Callable[[str], Path]) -> None:
    file = written("function one() return 1 end function two() return 2 end")
    assert models.call(lua, file, function="two")() == 2
    with pytest.raises(ValueError, match=r"defines several functions; it has one, two"):
        models.call(lua, file)
    with pytest.raises(ValueError, match=r"defines no function 'three'; it has one, two"):
        models.call(lua, file, function="three")


def test_a_file_without_functions_is_refused(lua: bridge.Lua, written: Callable[[str], Path]) -> None:
    with pytest.raises(ValueError, match=r"it has none"):
        models.call(lua, written("x = 3"))


def test_a_key_is_for_files_of_torch7(lua: bridge.Lua, written: Callable[[str], Path]) -> None:
    with pytest.raises(ValueError, match=r"key= is for the tables of \.t7 files"):
        models.call(lua, written("function f() end"), key="a")


@pytest.mark.parametrize("name", ["none.t7", "none.lua"])
def test_a_missing_file_is_named(lua: bridge.Lua, tmp_path: Path, name: str) -> None:
    with pytest.raises(FileNotFoundError, match=name.replace(".", r"\.")):
        models.call(lua, tmp_path / name)
