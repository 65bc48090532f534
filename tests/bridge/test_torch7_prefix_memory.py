"""Arrays and a real Torch7's storages: whoever reads memory keeps it, whatever Torch7 does with its tensors."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

import bridge


@pytest.fixture
def lua(prefix: Path) -> Iterator[bridge.Lua]:
    with bridge.Lua(torch7=prefix) as state:
        state.require("nn")
        yield state


def collect(lua: bridge.Lua) -> None:
    for _ in range(3):  # the tensor, then its storage, then what Python held of them
        lua.collect()


def resident() -> int:
    pages = Path("/proc/self/statm").read_text().split()[1]
    return int(pages) * 4096


# ---- arrays of what Torch7 moves afterwards

MOVES = {
    "grows": "x:resize(100000)",
    "shrinks": "x:storage():resize(2)",
    "is emptied": "x:storage():resize(0)",
    "is set elsewhere": "x:set(torch.ones(3))",
    "is dropped": "x = nil",
}


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES.keys())
@pytest.mark.parametrize("size", [3, 30_000])
def test_an_array_stays_when_its_tensor(lua: bridge.Lua, move: str, size: int) -> None:
    array = lua.execute(f"x = torch.DoubleTensor({size}):fill(4) return x")
    lua.execute(move)
    collect(lua)
    assert (array == 4).all()
    array[:] = 5
    assert array.sum() == 5 * size


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES.keys())
def test_an_array_of_a_storage_stays_when_it(lua: bridge.Lua, move: str) -> None:
    array = lua.execute("x = torch.DoubleTensor(3000):fill(4) return x:storage()")
    lua.execute(move)
    collect(lua)
    assert (array == 4).all()


@pytest.mark.parametrize("move", MOVES.values(), ids=MOVES.keys())
def test_a_torch_tensor_stays_when_its_tensor(prefix: Path, move: str) -> None:
    with bridge.Lua(torch7=prefix, tensors="torch") as lua:
        tensor: torch.Tensor = lua.execute("require 'torch' x = torch.FloatTensor(3000):fill(4) return x")
        lua.execute(move)
        collect(lua)
        assert bool((tensor == 4).all())


def test_a_tensor_that_grew_has_the_old_values_and_room(lua: bridge.Lua) -> None:
    lua.execute("x = torch.DoubleTensor(2):fill(4) return x")
    grown = lua.execute("x:resize(4) x[3] = 7 x[4] = 8 return x")
    assert grown.tolist() == [4, 4, 7, 8]


def test_what_getparameters_gives_is_shared(lua: bridge.Lua) -> None:
    net = lua.eval("nn.Linear(3, 2)")
    flat, gradient = net.getParameters()
    flat[:] = 2
    assert (net.weight == 2).all()
    net.backward(np.ones((1, 3)), np.ones((1, 2)))
    assert gradient.tolist() == [1] * 8


def test_arrays_of_one_storage_stay_when_one_of_them_goes(lua: bridge.Lua) -> None:
    first, second = lua.execute("x = torch.DoubleTensor(3000):fill(4) return x, x:narrow(1, 11, 20)")
    del first
    lua.execute("x:resize(100000)")
    collect(lua)
    assert (second == 4).all()


# ---- arrays that Torch7 has


def test_a_lent_array_that_grows_is_copied(lua: bridge.Lua) -> None:
    array = np.arange(4.0)
    grown = lua.eval("(...):resize(8)", array)
    assert grown[:4].tolist() == [0, 1, 2, 3]
    grown[0] = 9
    assert array[0] == 0


def test_a_view_of_a_lent_array_sees_it_grow(lua: bridge.Lua) -> None:
    array = np.arange(4.0)
    lua.execute("x = ... y = x:narrow(1, 2, 2) x:resize(1000):fill(7)", array)
    assert lua.eval("y").tolist() == [7, 7]


def test_a_lent_array_goes_when_its_tensor_has_grown(lua: bridge.Lua) -> None:
    array = np.arange(4.0)
    gone = weakref.ref(array)
    lua.execute("x = ... x:resize(1000)", array)
    del array
    collect(lua)
    assert gone() is None
    assert lua.eval("x[4]") == 3


def test_a_lent_array_comes_back_as_its_own_memory(lua: bridge.Lua) -> None:
    array = np.arange(4.0)
    back = lua.eval("...", array)
    back[1] = 5
    assert array[1] == 5


def test_a_lent_torch_tensor_stays_when_torch_lets_it_go(lua: bridge.Lua) -> None:
    tensor = torch.ones(3000)
    lua.execute("x = ...", tensor)
    del tensor
    collect(lua)
    assert lua.eval("x:sum()") == 3000


def test_a_lent_torch_tensor_cannot_be_resized_under_torch7(lua: bridge.Lua) -> None:
    tensor = torch.ones(3)
    lua.execute("x = ...", tensor)
    with pytest.raises(RuntimeError, match="not resizable"):
        tensor.resize_(1000)


def test_two_states_have_the_same_array(lua: bridge.Lua, prefix: Path) -> None:
    array = np.arange(4.0)
    with bridge.Lua(torch7=prefix) as other:
        other.execute("require 'torch' x = ... x[1] = 5", array)
        lua.execute("x = ... x:resize(1000)", array)
    assert lua.eval("x[1]") == 5
    assert array[0] == 5


@pytest.mark.long
@pytest.mark.parametrize("source", ["nn.View(-1)", "nn.Linear(1000, 1)"])
def test_inputs_do_not_pile_up(lua: bridge.Lua, source: str) -> None:
    net = lua.eval(source)
    before = most = resident()
    for _ in range(600):
        net.forward(np.ones((1000, 1000)))
        most = max(most, resident())
    assert most - before < 300 * 2**20


# ---- memory that nobody can keep


def test_memory_that_is_not_torch7s_to_free_cannot_grow(lua: bridge.Lua) -> None:
    array = np.arange(4.0)
    address = array.__array_interface__["data"][0]
    with pytest.raises(bridge.LuaError, match="Trying to resize storage that is not resizable"):
        lua.execute("torch.DoubleStorage(4, ...):resize(8)", address)


def test_a_tensor_beyond_its_storage_is_refused(lua: bridge.Lua) -> None:
    lua.execute("x = torch.DoubleTensor(8) x:storage():resize(4)")
    with pytest.raises(ValueError, match="its storage has 4 elements, it reaches to 8"):
        lua.eval("x")
