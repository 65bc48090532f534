"""Arrays cross the border without a copy, in all eight element types, with lifetimes held on both sides."""

from __future__ import annotations

import gc
import sys
import weakref
from typing import Any

import numpy as np
import pytest
import torch

import bridge
from tests.elements import DTYPES

KINDS = ["numpy", "torch"]


def make(kind: str, dtype: str) -> Any:
    array = np.arange(24).reshape(2, 3, 4).astype(dtype)
    return array if kind == "numpy" else torch.from_numpy(array).clone()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("name", "dtype"), DTYPES.items())
def test_an_array_arrives_as_the_tensor_of_its_dtype(
    lua: bridge.Lua, kind: str, name: str, dtype: str
) -> None:
    assert lua.eval("torch.typename(...)", make(kind, dtype)) == f"torch.{name}Tensor"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES.values())
def test_writes_in_lua_are_seen_in_python(lua: bridge.Lua, kind: str, dtype: str) -> None:
    array = make(kind, dtype)
    lua.execute("local x = ... x[2][3][4] = 99", array)
    assert array[1, 2, 3] == 99


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", DTYPES.values())
def test_writes_in_python_are_seen_in_lua(lua: bridge.Lua, kind: str, dtype: str) -> None:
    array = make(kind, dtype)
    lua.execute("x = ...", array)
    array[1, 2, 3] = 77
    assert lua.eval("x[2][3][4]") == 77


@pytest.mark.parametrize("name", DTYPES)
def test_a_lua_tensor_comes_back_over_its_own_memory(lua: bridge.Lua, name: str) -> None:
    array = lua.execute(f"x = torch.{name}Tensor(2, 3):fill(5) return x")
    assert array.dtype == DTYPES[name]
    assert (array == 5).all()
    array[1, 2] = 7
    assert lua.eval("x[2][3]") == 7


@pytest.mark.parametrize("name", DTYPES)
def test_a_lua_tensor_comes_back_as_torch_over_its_own_memory(name: str) -> None:
    with bridge.Lua(tensors="torch") as lua:
        lua.require("torch")
        tensor = lua.execute(f"x = torch.{name}Tensor(2, 3):fill(5) return x")
        assert isinstance(tensor, torch.Tensor)
        assert tensor.dtype == getattr(torch, DTYPES[name])
        tensor[1, 2] = 7
        assert lua.eval("x[2][3]") == 7


VIEWS = {
    "transposed": lambda a: a.transpose(2, 0, 1) if isinstance(a, np.ndarray) else a.permute(2, 0, 1),
    "sliced": lambda a: a[:, ::2],
    "selected": lambda a: a[1],
    "column": lambda a: a[:, 1, 2],
    "narrowed": lambda a: a[:, 1:, 1:3],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_a_strided_view_keeps_its_strides_and_memory(echo: Any, kind: str, view: Any) -> None:
    array = view(make(kind, "float64"))
    result = echo(array)
    assert np.array_equal(result, array)
    assert np.shares_memory(result, np.asarray(array))


def test_a_broadcast_torch_tensor_keeps_stride_zero(lua: bridge.Lua) -> None:
    assert lua.eval("(...):stride(1)", torch.zeros(1, 3).expand(4, 3)) == 0


COPIES = {
    "negative strides": lambda: np.arange(6.0)[::-1],
    "foreign byte order": lambda: np.arange(6, dtype=">f8"),
    "unaligned": lambda: np.frombuffer(bytearray(49), dtype=np.uint8)[1:].view(np.float64),
    "fields of a record": lambda: np.zeros(6, dtype=[("x", "f8"), ("y", "i4")])["x"],
}


@pytest.mark.parametrize("make_array", COPIES.values(), ids=COPIES)
def test_what_lua_cannot_address_arrives_as_a_copy(echo: Any, make_array: Any) -> None:
    array = make_array()
    result = echo(array)
    assert np.array_equal(result, array)
    assert not np.shares_memory(result, array)


def test_a_read_only_array_arrives_as_a_copy(lua: bridge.Lua) -> None:
    array = np.zeros(3)
    array.flags.writeable = False
    lua.execute("local x = ... x[1] = 5", array)
    assert array[0] == 0


@pytest.mark.parametrize(
    "dtype", ["uint16", "uint32", "uint64", "complex64", "complex128", "O", "U3", "M8[s]"]
)
def test_a_dtype_without_a_tensor_type_is_refused_by_name(echo: Any, dtype: str) -> None:
    with pytest.raises(TypeError, match=r"no Torch7 tensor type holds dtype .*astype"):
        echo(np.zeros(2, dtype))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.complex64, torch.uint16])
def test_a_torch_dtype_without_a_tensor_type_is_refused_by_name(echo: Any, dtype: torch.dtype) -> None:
    with pytest.raises(TypeError, match=f"{dtype}"):
        echo(torch.zeros(2, dtype=dtype))


@pytest.mark.parametrize("kind", KINDS)
def test_bool_arrives_as_byte_and_stays_byte(lua: bridge.Lua, echo: Any, kind: str) -> None:
    array = np.array([True, False]) if kind == "numpy" else torch.tensor([True, False])
    assert lua.eval("torch.typename(...)", array) == "torch.ByteTensor"
    assert echo(array).dtype == np.uint8


@pytest.mark.parametrize("value", [np.array(2.5), torch.tensor(2.5)], ids=KINDS)
def test_a_0d_array_arrives_as_a_number(echo: Any, value: Any) -> None:
    assert echo(value) == 2.5


@pytest.mark.parametrize("value", [np.zeros((0,)), np.zeros((3, 0, 2)), torch.zeros(0), torch.zeros(2, 0)])
def test_a_zero_size_array_arrives_without_dimension(lua: bridge.Lua, value: Any) -> None:
    assert lua.eval("(...):dim(), (...):nElement()", value) == (0, 0)


def test_an_empty_tensor_comes_back_empty(lua: bridge.Lua) -> None:
    result = lua.eval("torch.FloatTensor()")
    assert result.shape == (0,)
    assert result.dtype == np.float32


def test_a_tensor_that_requires_grad_is_refused(echo: Any) -> None:
    with pytest.raises(TypeError, match="detach"):
        echo(torch.zeros(2, requires_grad=True))
    with pytest.raises(TypeError, match="detach"):
        echo(torch.nn.Parameter(torch.zeros(2)))
    assert echo(torch.zeros(2, requires_grad=True).detach()).shape == (2,)


def test_a_masked_array_is_refused(echo: Any) -> None:
    with pytest.raises(TypeError, match=r"filled"):
        echo(np.ma.masked_array([1.0, 2.0], [False, True]))


def test_a_sparse_tensor_is_refused(echo: Any) -> None:
    with pytest.raises(TypeError, match="strided"):
        echo(torch.eye(2).to_sparse())


def test_a_meta_tensor_is_refused(echo: Any) -> None:
    with pytest.raises(TypeError, match="on device meta"):
        echo(torch.zeros(2, device="meta"))


def test_twenty_dimensions_cross(echo: Any) -> None:
    array = np.arange(4.0).reshape((1,) * 9 + (2,) + (1,) * 9 + (2,))
    assert np.array_equal(echo(array), array)


@pytest.mark.slow
def test_an_array_outlives_the_state_it_came_from() -> None:
    lua = bridge.Lua()
    lua.require("torch")
    array = lua.eval("torch.Tensor(1000):fill(3)")
    lua.close()
    del lua
    gc.collect()
    assert (array == 3).all()


@pytest.mark.parametrize("kind", KINDS)
def test_lua_keeps_an_array_alive_until_it_forgets_it(lua: bridge.Lua, kind: str) -> None:
    array = np.zeros(1000) if kind == "numpy" else torch.zeros(1000)
    gone = weakref.ref(array) if kind == "numpy" else weakref.ref(array.untyped_storage())
    lua.execute("held = ...", array)
    del array
    assert gone() is not None
    lua.eval("held:fill(4)")
    assert lua.eval("held:sum()") == 4000
    lua.execute("held = nil")
    lua.collect()
    lua.collect()
    assert gone() is None


def test_a_storage_comes_back_as_an_array_over_its_memory(lua: bridge.Lua) -> None:
    array = lua.execute("x = torch.Tensor(2, 3):fill(1) return x:storage()")
    assert array.shape == (6,)
    array[5] = 9
    assert lua.eval("x[2][3]") == 9


def test_memory_held_is_counted(lua: bridge.Lua) -> None:
    lua.require("torch")
    before = lua.held_bytes
    lua.execute("x = torch.Tensor(1000000)")
    assert lua.held_bytes - before == 8_000_000
    lua.execute("x = nil")
    lua.collect()
    assert lua.held_bytes == before


def test_temporaries_of_a_gigabyte_do_not_pile_up(lua: bridge.Lua) -> None:
    peak = lua.execute("""
       local native = require 'bridge.native'
       require 'torch'
       local peak = 0
       for i = 1, 1000 do
          local x = torch.DoubleTensor(131072)
          peak = math.max(peak, tonumber(native.heap.held))
       end
       return peak
    """)
    assert peak < 150e6


@pytest.mark.slow
def test_arrays_passed_in_a_loop_do_not_pile_up(lua: bridge.Lua) -> None:
    touch = lua.eval("function(x) return x:size(1) end")
    peak = 0
    for _ in range(2000):
        touch(np.ones(131072))
        peak = max(peak, lua.held_bytes)
    assert peak < 150e6


@pytest.mark.parametrize("kind", KINDS)
def test_an_array_lent_again_is_counted_once(lua: bridge.Lua, kind: str) -> None:
    array = make(kind, "float64")
    lua.execute("xs = {}")
    keep = lua.eval("function(x) xs[#xs + 1] = x end")
    keep(array)
    held = lua.held_bytes
    for _ in range(100):
        keep(array)
    assert lua.held_bytes == held
    lua.execute("xs = {xs[50]} collectgarbage()")
    assert lua.held_bytes == held
    lua.execute("xs = {}")
    lua.collect()
    assert lua.held_bytes == 0


def test_a_part_of_a_storage_comes_back_over_its_memory(lua: bridge.Lua) -> None:
    array = lua.execute(
        "s = torch.DoubleStorage{1, 2, 3, 4} return torch.Tensor(torch.DoubleStorage(s, 2, 3))"
    )
    assert array.tolist() == [2, 3, 4]
    array[0] = 9
    assert lua.eval("s[2]") == 9


def test_a_storage_at_an_address_is_that_memory(lua: bridge.Lua) -> None:
    array = np.arange(4.0)
    lua.execute("s = torch.DoubleStorage(4, ...) s[1] = 7", array.ctypes.data)
    assert array[0] == 7
    assert np.shares_memory(lua.eval("s"), array)


@pytest.mark.parametrize(
    "value",
    [np.zeros(3), torch.zeros(3), [1, None], {"a": None}, None, pytest.param(object(), id="object")],
    ids=repr,
)
def test_a_round_trip_leaks_no_reference(echo: Any, value: Any) -> None:
    for _ in range(10):
        echo(value)
    before = sys.getrefcount(None)
    for _ in range(1000):
        echo(value)
    assert abs(sys.getrefcount(None) - before) < 100
