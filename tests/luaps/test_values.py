"""Values in tensors of every layout and in FFI memory; what is not contiguous is copied both ways."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import bridge
import pyps

TENSORS = {"float32": "Float", "float64": "Double", "float16": "Half", "int32": "Int", "int64": "Long"}
# Views of two rows of three; `T` is the type's constructor.
VIEWS = {
    "a matrix": "T(2, 3)",
    "a vector": "T(6)",
    "three dimensions": "T(1, 2, 3)",
    "a part": "T(4, 3):narrow(1, 2, 2)",
    "a transposed matrix": "T(3, 2):t()",
    "columns": "T(2, 8):narrow(2, 4, 3)",
    "every second element": "T(2, 3, 2):select(3, 2)",
}


@pytest.fixture(params=TENSORS)
def typed(request: pytest.FixtureRequest) -> Iterator[tuple[pyps.Server, bridge.Lua]]:
    """A server of each dtype that Torch7 has, and a Lua state with `T`, its tensor type."""
    with pyps.Server(2, 3, dtype=request.param) as server, bridge.Lua() as lua:
        lua.execute(
            "require 'torch' ffi = require 'ffi' luaps = require 'luaps'"
            "kv = luaps.worker{address = ...} T = torch[select(2, ...) .. 'Tensor']",
            server.address,
            TENSORS[request.param],
        )
        yield server, lua


FILL = "local function fill(t) t:copy(torch.DoubleTensor{1, 2, 3, 4, 5, 6}:viewAs(t)) return t end "
READ = "return v:double():contiguous():view(6):totable() "


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
def test_tensors_of_every_type_and_layout(
    typed: tuple[pyps.Server, bridge.Lua], contents: Any, view: str
) -> None:
    server, lua = typed
    lua.execute(f"{FILL} kv:push({{1, 2}}, fill({view}))")
    assert contents(server).tolist() == [1, 2, 3, 4, 5, 6]
    assert lua.execute(f"local v = {view}:zero() kv:pull({{2, 1}}, v) {READ}") == [4, 5, 6, 1, 2, 3]
    assert lua.execute(f"local v = {view}:zero() assert(kv:pull_if_local({{2, 1}}, v)) {READ}") == [
        4,
        5,
        6,
        1,
        2,
        3,
    ]
    lua.execute(f"{FILL} kv:set({{2, 1}}, fill({view}))")
    assert contents(server).tolist() == [4, 5, 6, 1, 2, 3]


def test_a_pull_into_a_view_leaves_its_neighbours(lua: bridge.Lua) -> None:
    source = "local m = torch.FloatTensor(3, 4):fill(7) kv:pull(1, m:select(2, 2)) return m:sum()"
    assert lua.execute(source) == 9 * 7


def test_a_refused_pull_into_a_view_changes_nothing(lua: bridge.Lua) -> None:
    source = """
    local m = torch.FloatTensor(3, 4):fill(7)
    local ok = pcall(kv.pull, kv, 11, m:select(2, 2))
    return not ok and m:sum()
    """
    assert lua.execute(source) == 12 * 7


def test_an_expanded_tensor_can_be_pushed(lua: bridge.Lua, server: pyps.Server, contents: Any) -> None:
    lua.execute("kv:push({1, 2}, torch.FloatTensor{{1, 2, 3}}:expand(2, 3))")
    assert contents(server)[:6].tolist() == [1, 2, 3, 1, 2, 3]


@pytest.mark.parametrize(
    "values",
    [
        "ffi.new('float[3]', 1, 2, 3)",
        "ffi.new('float[?]', 3, 1, 2, 3)",
        "luaps.buffer(ffi.new('float[3]', 1, 2, 3))",
        "luaps.buffer(ffi.new('float[5]', 1, 2, 3, 4, 5), 3)",
        "luaps.buffer(ffi.cast('float*', kept), 3)",
        "luaps.buffer(torch.FloatTensor{1, 2, 3}:data(), 3)",
        "ffi.new('const float[3]', {1, 2, 3})",
        "luaps.buffer(ffi.cast('const float*', kept), 3)",
        "ffi.new('struct { int n; float values[3]; }', 3, {1, 2, 3}).values",
    ],
)
def test_kinds_of_memory(lua: bridge.Lua, server: pyps.Server, contents: Any, values: str) -> None:
    lua.execute(f"local kept = ffi.new('float[3]', 1, 2, 3) kv:push(1, {values})")
    assert contents(server)[:4].tolist() == [1, 2, 3, 0]


def test_a_buffer_keeps_its_array(lua: bridge.Lua, server: pyps.Server, contents: Any) -> None:
    lua.execute("b = luaps.buffer(ffi.new('float[3]', 1, 2, 3))")
    lua.execute(
        "for _ = 1, 1000 do local waste = ffi.new('float[1000]') end collectgarbage() collectgarbage()"
    )
    lua.execute("kv:push(1, b)")
    assert contents(server)[:3].tolist() == [1, 2, 3]
    assert lua.execute("return tostring(b)") == "luaps.buffer of 3 float"


def test_a_network_is_trained_in_place(server: pyps.Server, lua: bridge.Lua, contents: Any) -> None:
    lua.execute("""
    require 'nn'
    torch.setdefaulttensortype('torch.FloatTensor')
    local net = nn.Linear(5, 5)
    local parameters, gradients = net:getParameters()
    local keys = torch.range(1, 10):long()
    kv:set(keys, parameters)
    net:zeroGradParameters()
    net:forward(torch.ones(5))
    net:backward(torch.ones(5), torch.ones(5))
    kv:push(keys, gradients:mul(-1))
    parameters:add(gradients)
    before = parameters:clone()
    kv:pull(keys, parameters)
    difference = (before - parameters):abs():max()
    """)
    assert lua.difference == 0
