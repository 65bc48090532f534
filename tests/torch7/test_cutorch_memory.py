"""Memory on a device: nothing but torch reaches it, it is counted, and it is given back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import bridge


@pytest.fixture
def device(monkeypatch: pytest.MonkeyPatch) -> Iterator[bridge.Lua]:
    """The code for devices, with the CPU as a device that tells no address."""
    monkeypatch.setenv("MOONTIDE_CUDA", "aten")
    with bridge.Lua() as lua:
        lua.execute("require 'cutorch' t = torch.CudaTensor{{1, 2, 3}, {4, 5, 6}}")
        yield lua


LOOPS = """
local object, kernels, C = require 'torch.object', require 'torch.kernels', require('bridge.native').C
local ffi = require 'ffi'
local r, a, out = t:clone(), t:clone(), ffi.new('double[1]')
local longs, flags = t:clone():cudaLong(), t:cudaByte()
"""


@pytest.mark.parametrize(
    "loop",
    [
        "br_fill(r, 1)",
        "br_copy(r, a)",
        "br_copy(r, torch.FloatTensor(2, 3))",
        "br_copy(torch.FloatTensor(2, 3), a)",
        "br_map(0, r, a, 1, 0)",
        "br_pair(0, r, a, a, 1)",
        "br_triple(0, r, a, a, a, 1)",
        "br_gate(0, r, a, a, 1, 1)",
        "br_compare(0, r, a, a, 0)",
        "br_equal(a, r, ffi.new('int[1]'))",
        "br_reduce(0, a, 0, out)",
        "br_dot(a, r, out)",
        "br_distance(a, r, 2, out)",
        "br_reduce_dim(0, r:narrow(1, 1, 1), a, 0, 0)",
        "br_scan(0, r, a, 0)",
        "br_addmm(t:t() * t, t:t(), t, 0, 1)",
        "br_addmv(r:select(2, 1), a, a:select(1, 1), 0, 1)",
        "br_order(2, r, longs, a, 0, 0)",
        "br_index(0, r, a, 0, torch.LongTensor{1, 2}, 0)",
        "br_gather(r, a, 0, longs)",
        "br_scatter(r, a, 0, longs, 0)",
        "br_masked_fill(r, flags, 0)",
        "br_mask_count(flags, ffi.new('int64_t[1]'))",
        "br_nonzero(longs, a)",
        "br_random_fill(require('torch.generator').default, r, 0, 0, 1)",
    ],
)
def test_a_loop_over_host_memory_refuses(device: bridge.Lua, loop: str) -> None:
    assert device.execute(f"{LOOPS} return C.{loop}") != 0
    assert device.eval("t:sum()") == 21


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("tonumber(ffi.cast('intptr_t', tensor(t).storage.data))", 0),
        ("tonumber(tensor(t).storage.live_nbytes[0])", 0),
        ("tonumber(ffi.cast('intptr_t', t:storage():data()))", 0),
        ("tonumber(C.br_tensor_covered(tensor(t)))", 0),
    ],
)
def test_its_address_is_not_told(device: bridge.Lua, expression: str, value: int) -> None:
    code = "local ffi, C, tensor = require 'ffi', require('bridge.native').C, require('torch.object').tensor "
    assert device.execute(code + "return " + expression) == value


@pytest.mark.parametrize("code", ["t:data()", "torch.data(t)"])
def test_there_is_no_pointer_to_it(device: bridge.Lua, code: str) -> None:
    with pytest.raises(bridge.LuaError, match="the memory of this tensor is on the device"):
        device.execute(code)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("t:add(torch.FloatTensor(2, 3))", "invalid arguments: CudaTensor FloatTensor"),
        ("torch.FloatTensor(2, 3):cmul(t)", "invalid arguments: FloatTensor CudaTensor"),
        ("torch.add(t, 1, torch.FloatTensor(2, 3))", "invalid arguments"),
        ("nn.Linear(3, 2):cuda():forward(torch.FloatTensor(4, 3))", "expected"),
        ("nn.SoftMax():float():forward(t)", "torch.FloatTensor expected, got torch.CudaTensor"),
        ("aten.op('exp.out', 'TT')(t, torch.FloatTensor(2, 3))", "on the device, others on the CPU"),
        ("aten.matmul(t, t, torch.FloatTensor(2, 3), t, 1, 1)", "on the device, others on the CPU"),
    ],
)
def test_tensors_on_the_cpu_and_on_a_device_do_not_go_together(
    device: bridge.Lua, code: str, message: str
) -> None:
    device.execute("require 'nn' aten = require 'torch.aten'")
    with pytest.raises(bridge.LuaError) as raised:
        device.execute(code)
    assert message in raised.value.message


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("t:index(1, torch.LongTensor{3})", "out of range"),
        ("t:gather(1, torch.CudaLongTensor{{0, 1, 1}})", "Invalid index in gather"),
        ("t:maskedFill(torch.ByteTensor(2, 3):fill(2), 1)", "Mask tensor can take 0 and 1 values only"),
        ("t:cudaInt():div(0)", "division by zero"),
        ("t:cudaInt():fmod(0.5)", "division by zero"),
        ("t:cudaLong():cdiv(t:cudaLong():add(-3))", "division by zero"),
        ("t:cudaInt():addcdiv(1, t:cudaInt(), t:cudaInt():zero())", "division by zero"),
        ("t:view(5)", "Wrong size for view"),
        ("t[3] = 1", "out of range"),
        ("t[{1, 4}] = 1", "out of bound"),
        ("t.nothing = 1", "cannot be indexed"),
        ("t:storage()[7] = 1", "out of bounds"),
        ("torch.CudaTensor(2^60)", "not enough memory"),
        ("torch.CudaStorage(-1)", "must not be negative"),
        ("torch.CudaTensor{1, 'x'}", "not a number"),
        ("t:sqrt(1, 2, 3)", "invalid arguments"),
    ],
)
def test_what_cannot_be_is_told(cuda: bridge.Lua, code: str, message: str) -> None:
    with pytest.raises(bridge.LuaError) as raised:
        cuda.execute(code)
    assert message in raised.value.message


def test_it_counts_as_the_state_s(cuda: bridge.Lua) -> None:
    before = cuda._state.held_bytes
    cuda.execute("big = torch.CudaTensor(1000000)")
    assert cuda._state.held_bytes - before == 4000000
    cuda.execute("big = nil collectgarbage() collectgarbage()")
    assert cuda._state.held_bytes <= before


@pytest.mark.slow
def test_what_is_dropped_in_a_loop_is_collected(cuda: bridge.Lua) -> None:
    cuda.execute("for i = 1, 100 do local x = torch.CudaTensor(1000000):zero() end")
    assert cuda._state.held_bytes < 200_000_000


def test_a_view_sees_its_parent_s_storage_grow(cuda: bridge.Lua) -> None:
    code = (
        "local x = t:clone() local y = x:narrow(1, 1, 1) x:resize(1000, 1000):fill(8) return y[1][3], x:sum()"
    )
    assert cuda.execute(code) == (8, 8_000_000)


def test_what_a_storage_held_stays_when_it_grows(cuda: bridge.Lua) -> None:
    assert cuda.execute("local s = t:storage() s:resize(10) return t:sum(), #s, s[6]") == (21, 10, 6)


def test_a_storage_that_shrinks_keeps_its_memory(cuda: bridge.Lua) -> None:
    assert cuda.execute("local x = t:clone() x:resize(2) x:resize(2, 3) return x:sum()") == 21
