"""Every native loop over tensors has a version for devices, which gives what the loop gives."""

from __future__ import annotations

import random
import re
from pathlib import Path

import numpy as np
import pytest

import bridge

PACKAGE = Path(bridge.__file__).parent
KERNELS = PACKAGE / "torch7" / "torch" / "kernels.lua"
# These say what a tensor, an operator of torch's and a device are; the other headers' functions of tensors are loops.
APART = {"tensor.h", "aten.h", "device.h"}


def loops() -> dict[str, str]:
    """The loops that Lua sees, and the header of each."""
    found = {}
    for header in sorted((PACKAGE / "core").rglob("*.h")):
        for part in re.findall(
            r"BRIDGE_CDEF begin \*/(.*?)/\* BRIDGE_CDEF end", header.read_text(), re.DOTALL
        ):
            for name, parameters in re.findall(r"^\w[\w ]*?\**(br_\w+)\(([^;]*)\);", part, re.MULTILINE):
                if header.name not in APART and "br_tensor *" in parameters:
                    found[name] = header.name
    return found


def test_the_headers_are_read() -> None:
    assert {
        "br_fill": "loops.h",
        "br_max_pool_back": "max_pooling.h",
        "br_random_fill": "random.h",
    }.items() <= (loops().items())


@pytest.mark.parametrize("name", sorted(loops()))
def test_a_device_has_its_own(lasting_there: bridge.Lua, name: str) -> None:
    assert lasting_there.execute("return type(require('torch.kernels').elsewhere[...])", name) == "function"


@pytest.mark.parametrize("name", sorted(loops()))
def test_nothing_but_the_kernels_calls_the_loop_itself(name: str) -> None:
    callers = [
        str(path.relative_to(PACKAGE))
        for path in (PACKAGE / "torch7").rglob("*.lua")
        if path != KERNELS and re.search(rf"\bC\.{name}\b", path.read_text())
    ]
    assert callers == []


def test_the_kernels_ask_the_device_whenever_a_loop_refuses() -> None:
    calls = re.findall(
        r"C\.(br_\w+)\(([^\n]*)\)\n +if code ~= 0 then\n +fault\((?:refused\(code, '(\w+)', (.*?)\), )?",
        KERNELS.read_text(),
    )
    assert {call for call, *_ in calls} > {"br_map", "br_gate", "br_scan"}
    for call, given, asked, passed in calls:
        assert (asked, passed) == (call, given)


# Family: how many functions it has, and the call of function `f` on x, y, z with the numbers v and w.
FAMILIES = {
    "maps": ("C.BR_MAPS", "kernels.map(f, r, x, v, w)"),
    "pairs": ("C.BR_PAIRS", "kernels.pair(f, r, x, y, v)"),
    "triples": ("C.BR_TRIPLES", "kernels.triple(f, r, x, y, z, v)"),
    "gates": ("C.BR_GATES", "kernels.gate(f, r, x, y, v, w)"),
    "comparisons": ("C.BR_COMPARISONS", "kernels.compare(f, r, x, y, v)"),
}
EACH = """
local kernels, C = require 'torch.kernels', require('bridge.native').C
local results = {}
for _, typename in ipairs{'torch.CudaTensor', 'torch.FloatTensor'} do
   local given = {}
   for i, t in ipairs{...} do
      given[i] = t:type(typename)
   end
   local made = {}
   for f = 0, COUNT - 1 do
      for number, scalars in ipairs{{2, 3}, {0.25, 0.5}, {-1, 1}} do
         local x, y, z, v, w = given[1], given[2], given[3], scalars[1], scalars[2]
         for place, r in ipairs{x:clone(), x, y} do -- in a tensor of its own, and in place of an operand
            local before = {x:clone(), y:clone()}
            if not pcall(function() CALL end) then
               r:fill(12345) -- both refuse
            end
            made[#made + 1] = r:float():clone()
            x:copy(before[1])
            y:copy(before[2])
         end
      end
   end
   results[#results + 1] = made
end
return unpack(results)
"""


def elements(seed: int) -> np.ndarray:
    x = np.random.default_rng(seed).normal(size=(3, 5)).astype(np.float32) * 2
    x[0, :4] = [0, 0.25, -0.25, -1]  # where a function bends
    return x


@pytest.mark.parametrize("family", FAMILIES)
def test_every_function_of_elements_gives_what_the_loop_gives(lasting_there: bridge.Lua, family: str) -> None:
    count, call = FAMILIES[family]
    code = EACH.replace("COUNT", count).replace("CALL", call)
    got, expected = lasting_there.execute(code, *(elements(seed) for seed in range(3)))
    assert len(got) == len(expected) >= 27
    assert sum(12345 in theirs for theirs in expected) < len(expected) / 4
    for number, (mine, theirs) in enumerate(zip(got, expected, strict=True)):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5, atol=1e-6, err_msg=f"number {number}")


# Functions with a bend say which side nan and infinity take.
@pytest.mark.parametrize("family", ["gates", "triples"])
def test_what_is_no_number_takes_the_same_side(lasting_there: bridge.Lua, family: str) -> None:
    count, call = FAMILIES[family]
    edges = np.array([np.nan, np.inf, -np.inf, 0, 1], np.float32)
    x, y = (grid.astype(np.float32) for grid in np.meshgrid(edges, edges))
    got, expected = lasting_there.execute(EACH.replace("COUNT", count).replace("CALL", call), x, y, y + 1)
    for mine, theirs in zip(got, expected, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("name", ["THRESHOLD", "SOFTSHRINK", "SOFTSIGN"])
def test_maps_with_a_bend_treat_what_is_no_number_alike(lasting_there: bridge.Lua, name: str) -> None:
    code = """
    local kernels, C = require 'torch.kernels', require('bridge.native').C
    local x = torch.FloatTensor{0/0, 1/0, -1/0, 0, 1, -1}
    local y = x:cuda()
    kernels.map(C['BR_' .. ...], x, x, 0.5, 7)
    kernels.map(C['BR_' .. ...], y, y, 0.5, 7)
    return x, y:float()
    """
    expected, got = lasting_there.execute(code, name)
    np.testing.assert_array_equal(got, expected)


def test_gates_are_for_floats_alone(lasting_there: bridge.Lua) -> None:
    code = """
    local a = torch.CudaIntTensor{1, 2}
    require('torch.kernels').gate(0, a, a, a, 0, 0)
    """
    with pytest.raises(bridge.LuaError, match=r"not available for tensors of type torch\.CudaIntTensor"):
        lasting_there.execute(code)


POOL = """
local kind, shape, kernel, step, padding, apart, ceil, seed = ...
torch.manualSeed(seed)
local x = torch.round(torch.FloatTensor(unpack(shape)):normal() * 2)
local made = {}
for i, typename in ipairs{'torch.CudaTensor', 'torch.FloatTensor'} do
   local m
   if kind == 'image' then
      m = nn.SpatialDilatedMaxPooling(kernel[3], kernel[2], step[3], step[2], padding[3], padding[2],
         apart[3], apart[2])
   else
      m = nn.VolumetricDilatedMaxPooling(kernel[1], kernel[3], kernel[2], step[1], step[3], step[2],
         padding[1], padding[3], padding[2], apart[1], apart[3], apart[2])
   end
   m:type(typename)
   m.ceil_mode = ceil
   local input = x:type(typename)
   local y = m:forward(input)
   local slope = torch.range(1, y:nElement()):type(typename):view(y:size())
   local gradient = m:backward(input, slope)
   made[i] = {y:float(), m.indices:double(), gradient:float()}
end
return unpack(made)
"""


@pytest.mark.parametrize("kind", ["image", "volume"])
def test_any_windows_give_what_the_loop_gives(lasting_there: bridge.Lua, kind: str) -> None:
    draw, compared, missed = random.Random(kind), 0, 0
    while compared < 60:
        kernel = [draw.randint(1, 4) for _ in range(3)]
        step, apart = ([draw.randint(1, 3) for _ in range(3)] for _ in range(2))
        padding = [draw.randint(0, k // 2) for k in kernel]
        if draw.random() < 0.3:  # taps that pass by a small plane
            kernel, padding, apart = [2, 2, 2], [1, 1, 1], [3, 3, 3]
        sizes = [draw.randint(1, 7) for _ in range(3)]
        used = range(1 if kind == "image" else 0, 3)
        if any(sizes[d] + 2 * padding[d] - apart[d] * (kernel[d] - 1) < 1 for d in used):
            continue
        shape = [draw.randint(1, 3), draw.randint(1, 3), *(sizes[d] for d in used)]
        ceil = draw.random() < 0.5
        got, expected = lasting_there.execute(POOL, kind, shape, kernel, step, padding, apart, ceil, compared)
        for mine, theirs in zip(got, expected, strict=True):
            np.testing.assert_array_equal(mine, theirs)
        missed += int((expected[1] == 0).any())
        compared += 1
    assert missed > 3


@pytest.mark.parametrize("bad", [-1, 5, 2**40])
def test_a_place_outside_the_plane_is_refused(lasting_there: bridge.Lua, bad: int) -> None:
    code = """
    local m, x = nn.SpatialMaxPooling(2, 2):cuda(), torch.CudaTensor(1, 2, 2):fill(1)
    local y = m:forward(x)
    m.indices:fill(...)
    m:backward(x, y)
    """
    with pytest.raises(bridge.LuaError, match="invalid max index: they must be from 1 to 4"):
        lasting_there.execute(code, bad)
