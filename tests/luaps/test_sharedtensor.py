"""Tensors and models that Lua and Python share."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator

import pytest
import torch

import bridge
import pyps
from pyps import wholememory as wm
from tests.luaps.conftest import Process

pytestmark = pytest.mark.usefixtures("one_rank")
TYPES = {
    torch.float32: "Float",
    torch.float64: "Double",
    torch.int64: "Long",
    torch.int32: "Int",
    torch.int16: "Short",
    torch.int8: "Char",
    torch.uint8: "Byte",
    torch.float16: "Half",
}


@pytest.fixture
def state() -> Iterator[bridge.Lua]:
    with bridge.Lua() as lua:
        lua.execute("require 'torch' require 'nn' luaps = require 'luaps'")
        yield lua


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("strides", [[], [1, 4], [8, 2]])
def test_a_tensor_of_python_is_the_same_memory_in_lua(
    state: bridge.Lua, dtype: torch.dtype, strides: list[int]
) -> None:
    a = wm.create_tensor([4, 3], strides, dtype, True, [])
    a.copy_(torch.arange(12).view(4, 3))
    found = state.execute(
        "t = luaps.sharedtensor(...) t[3][2] = 77 return {torch.type(t), t:size(1), t:size(2), t[4][3]}",
        wm.name_of(a),
    )
    assert found == [f"torch.{TYPES[dtype]}Tensor", 4, 3, 11]
    assert a[2, 1] == 77


@pytest.mark.slow
def test_lua_keeps_the_memory_as_long_as_it_has_a_view() -> None:
    a = wm.create_tensor([4, 3], [], torch.float32, True, [])
    name = wm.name_of(a)
    with bridge.Lua() as lua:
        lua.execute("require 'torch' t = require('luaps').sharedtensor(...)", name)
        del a
        gc.collect()
        again = wm.open_tensor(name)
        lua.execute("t:fill(5)")
        assert again.sum() == 60
        del again
        lua.execute("part = t[2] t = nil collectgarbage() collectgarbage() part:fill(6)")
        assert lua.eval("part:sum()") == 18
    with pytest.raises(pyps.AttachError):
        wm.open_tensor(name)


def test_a_process_without_python_and_without_torch_reads_and_writes_it(
    luajit: Callable[..., Process],
) -> None:
    a = wm.create_tensor([4, 3], [3, 1], torch.float64, True, [])
    a.copy_(torch.arange(12).view(4, 3))
    source = """
    local t = luaps.sharedmemory(number_of)
    say(t.dtype, t.size[1], t.size[2], t.stride[1], t.data[11])
    t.data[4] = 77
    """.replace("number_of", f"'{wm.name_of(a)}'")
    assert luajit(source).finish() == ["float64 4 3 3 11"]
    assert a[1, 1] == 77


def test_without_torch_sharedtensor_says_the_way_out(luajit: Callable[..., Process]) -> None:
    a = wm.create_tensor([4], [], torch.float32, True, [])
    source = f"say(select(2, pcall(luaps.sharedtensor, '{wm.name_of(a)}')))"
    [line] = luajit(source).finish()
    assert "luaps: sharedtensor needs torch, which is not here; luaps.sharedmemory(name)" in line


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("'x'", "luaps: 'x' is not a name of shared memory"),
        ("7", "luaps: 7 is not a name of shared memory"),
        (
            "'wholememory-0000000000000000'",
            "luaps: no process of this user holds wholememory-0000000000000000",
        ),
    ],
)
def test_what_is_no_name_is_refused(state: bridge.Lua, name: str, text: str) -> None:
    with pytest.raises(bridge.LuaError, match=text):
        state.execute(f"luaps.sharedtensor({name})")


def test_a_dtype_that_torch7_lacks_is_named(state: bridge.Lua) -> None:
    a = wm.create_tensor([4], [], torch.bfloat16, True, [])
    with pytest.raises(bridge.LuaError, match=r"Torch has no type for; luaps\.sharedmemory"):
        state.execute("luaps.sharedtensor(...)", wm.name_of(a))
    b = wm.create_tensor([4], [], torch.complex64, True, [])
    with pytest.raises(bridge.LuaError, match="elements of complex64, which have no type in Lua"):
        state.execute("luaps.sharedmemory(...)", wm.name_of(b))


MODULE = "net = nn.Sequential():add(nn.Linear(4, 3)):add(nn.Tanh()):add(nn.Linear(3, 2)):float() "


def network() -> torch.nn.Sequential:
    return torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.Tanh(), torch.nn.Linear(3, 2))


def test_a_model_of_python_trains_on_the_memory_that_lua_sees(state: bridge.Lua) -> None:
    model = network()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    before = [parameter.detach().clone() for parameter in model.parameters()]
    name = pyps.share(model)
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))
    state.execute(MODULE + "luaps.share(net, ...)", name)
    x = torch.randn(5, 4)
    for _ in range(2):
        theirs = state.eval("function(x) return net:forward(x) end")(x.numpy())
        assert torch.allclose(model(x), torch.from_numpy(theirs), atol=1e-6)
        model(x).sum().backward()
        optimizer.step()
    state.execute("net:get(1).bias:fill(9)")
    assert model[0].bias.tolist() == [9, 9, 9]


def test_a_model_of_lua_is_shared_with_python_and_lua(state: bridge.Lua) -> None:
    name = state.execute(MODULE + "return luaps.share(net)")
    model = network()
    assert pyps.share(model, name) == name
    state.execute("other = net:clone() luaps.share(other, ...)", name)
    x = torch.randn(5, 4)
    for net in ("net", "other"):
        theirs = state.eval(f"function(x) return {net}:forward(x) end")(x.numpy())
        assert torch.allclose(model(x), torch.from_numpy(theirs), atol=1e-6)
    with torch.no_grad():
        model[2].weight.fill_(3)
    assert state.eval("other:get(3).weight:sum()") == 18


def test_buffers_are_shared_with_python(state: bridge.Lua) -> None:
    model, other = (torch.nn.Sequential(torch.nn.BatchNorm1d(3), torch.nn.Linear(3, 2)) for _ in range(2))
    pyps.share(other, pyps.share(model))
    model(torch.randn(10, 3) + 5)
    assert torch.equal(model[0].running_mean, other[0].running_mean)
    assert other[0].num_batches_tracked == 1


def test_a_model_that_is_another_one_is_refused(state: bridge.Lua) -> None:
    name = pyps.share(network())
    with pytest.raises(pyps.AttachError):  # nobody held it
        pyps.share(network(), name)
    model = network()
    name = pyps.share(model)
    with pytest.raises(ValueError, match=r"holds 4 tensors, the model has 2"):
        pyps.share(torch.nn.Linear(4, 3), name)
    with pytest.raises(
        ValueError, match=r"0.weight is 15 of torch.float32 in the model, and 12 of torch.float32"
    ):
        pyps.share(torch.nn.Sequential(torch.nn.Linear(5, 3), torch.nn.Linear(3, 2)), name)
    with pytest.raises(bridge.LuaError, match=r"has 4 parameters, the module 2"):
        state.execute("luaps.share(nn.Linear(4, 3):float(), ...)", name)
    with pytest.raises(
        bridge.LuaError, match=r"parameter 1 .* is 12 float32, the module has 15 of torch.FloatTensor"
    ):
        state.execute(
            "luaps.share(nn.Sequential():add(nn.Linear(5, 3)):add(nn.Linear(3, 2)):float(), ...)", name
        )
    with pytest.raises(ValueError, match="Tanh has no parameters to share"):
        pyps.share(torch.nn.Tanh())
