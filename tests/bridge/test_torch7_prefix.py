"""A Torch7 installation named by its prefix: tensors are its own userdata, reached as a real Torch7's are.

The installation here is our own runtime behind the layout of a real one; the boundary is told nothing of its types.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

import bridge
from bridge import legacy
from bridge.nn import LuaModule

RUNTIME = Path(bridge.__file__).parent / "torch7"
DTYPES = ["uint8", "int8", "int16", "int32", "int64", "float32", "float64"]


@pytest.fixture
def prefix(tmp_path: Path) -> Path:
    share = tmp_path / "share" / "lua" / "5.1"
    share.mkdir(parents=True)
    (tmp_path / "lib").mkdir()
    for package in RUNTIME.iterdir():
        (share / package.name).symlink_to(package)
    return tmp_path


@pytest.fixture
def lua(prefix: Path) -> Iterator[bridge.Lua]:
    with bridge.Lua(torch7=prefix) as state:
        state.require("torch")
        yield state


def test_the_prefix_comes_first_on_the_paths(lua: bridge.Lua, prefix: Path) -> None:
    assert lua.eval("package.path").startswith(f"{prefix}/share/lua/5.1/?.lua;")
    assert f"{prefix}/lib/?.so" in lua.eval("package.cpath")


@pytest.mark.parametrize("dtype", DTYPES)
def test_an_array_is_shared_in(lua: bridge.Lua, dtype: str) -> None:
    array = np.arange(6).reshape(2, 3).astype(dtype).T
    lua.execute("local x = ... assert(x:size(1) == 3 and x:stride(1) == 1) x[3][2] = 99", array)
    assert array[2, 1] == 99


@pytest.mark.parametrize("name", ["Byte", "Char", "Short", "Int", "Long", "Float", "Double"])
def test_a_tensor_is_shared_out(lua: bridge.Lua, name: str) -> None:
    array = lua.execute(f"x = torch.{name}Tensor(2, 3):fill(5) return x:t()")
    assert array.shape == (3, 2)
    array[2, 1] = 9
    assert lua.eval("x[2][3]") == 9


def test_the_array_is_kept_until_the_last_tensor_over_it_is_gone(lua: bridge.Lua) -> None:
    array = np.zeros(1000)
    gone = weakref.ref(array)
    lua.execute("x = ... y = x:narrow(1, 500, 2) x = nil", array)
    del array
    lua.collect()
    lua.execute("y:fill(3)")
    assert gone() is not None
    lua.execute("y = nil")
    for _ in range(3):  # the tensor, then its storage, then what Python held of them
        lua.collect()
    assert gone() is None


def test_the_tensor_is_kept_until_the_array_is_gone(lua: bridge.Lua) -> None:
    array = lua.eval("torch.DoubleTensor(1000):fill(4)")
    lua.collect()
    lua.close()
    assert (array == 4).all()


def test_an_empty_array_passes(lua: bridge.Lua) -> None:
    assert lua.eval("(...):dim()", np.zeros((0, 3))) == 0
    assert lua.eval("torch.FloatTensor()").shape == (0,)


def test_a_prefix_without_torch7_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="holds no Torch7"):
        bridge.Lua(torch7=tmp_path)


def test_lupas_own_runtime_still_works(lua: bridge.Lua) -> None:
    import lupa

    assert lupa.LuaRuntime().eval("6 * 7") == 42
    assert lua.eval("6 * 7") == 42


def test_legacy_modules_run_in_it(lua: bridge.Lua) -> None:
    with legacy.use(lua):
        net = legacy.nn.Sequential().add(legacy.nn.LookupTable(4, 3)).add(legacy.nn.Linear(3, 2))
        table = net.get(0).weight
        hidden = table[[0, 3]]
        wanted = hidden @ net.get(1).weight.T + net.get(1).bias
        np.testing.assert_allclose(net.forward(np.array([0, 3])), wanted)
        module = LuaModule(net)
        module(torch.tensor([0, 3])).sum().backward()
        gradient = module.get_parameter("0.weight").grad
        np.testing.assert_allclose(gradient[3], net.get(1).weight.sum(0))
        assert gradient[1].tolist() == [0, 0, 0]
