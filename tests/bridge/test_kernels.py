"""The three tiers of kernels behind one entry, and what each needs of Python."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch

import bridge


@pytest.mark.slow
def test_a_small_operation_does_not_load_torch() -> None:
    """The first tier is our own: Python's torch is not even imported."""
    program = """
import sys, bridge
lua = bridge.Lua()
assert lua.execute("require 'torch' local x = torch.Tensor(3):fill(2) x:add(1):mul(2) return x:sum()") == 18
assert "torch" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)


def test_an_operation_through_torchs_shim_agrees_with_torch(lua: bridge.Lua) -> None:
    a, b = torch.randn(5, 7), torch.randn(7, 3)
    result = lua.eval("torch.mm(...)", a, b)
    assert np.array_equal(result, (a @ b).numpy())


def test_an_operation_that_only_python_has_goes_through_python(lua: bridge.Lua) -> None:
    x = torch.tensor([0.0, 0.5], dtype=torch.float64)
    result = lua.eval("require('torch.aten')('special.erfinv', ...)", x)
    assert np.array_equal(result, torch.special.erfinv(x).numpy())


def test_several_results_of_python_come_back_as_tensors_in_lua(lua: bridge.Lua) -> None:
    names = lua.execute(
        "local v, i = require('torch.aten')('cummax', ...) return torch.typename(v), torch.typename(i)",
        torch.zeros(3),
        0,
    )
    assert names == ("torch.FloatTensor", "torch.LongTensor")


def test_an_unknown_operation_is_named(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match="no_such_function"):
        lua.eval("require('torch.aten')('no_such_function', 1)")


def test_an_error_of_a_kernel_has_torchs_words(lua: bridge.Lua) -> None:
    with pytest.raises(bridge.LuaError, match="size"):
        lua.eval("torch.mm(torch.ones(2, 3), torch.ones(2, 3))")


def test_kernels_leave_pythons_random_numbers_alone(lua: bridge.Lua) -> None:
    torch.manual_seed(7)
    expected = torch.rand(3)
    torch.manual_seed(7)
    lua.execute("torch.manualSeed(1) torch.randn(100) torch.mm(torch.rand(3, 3), torch.rand(3, 3))")
    assert torch.equal(torch.rand(3), expected)


@pytest.mark.slow
def test_an_error_of_torch_in_compiled_code_is_an_error(lua: bridge.Lua) -> None:
    code = """
    require 'torch'
    local f = require('torch.aten').op('_softmax.out', 'TibT')
    local x, wrong, failures = torch.rand(3, 4), torch.LongTensor(3, 4), 0
    for _ = 1, 200 do
       if not pcall(f, x, 1, false, wrong) then failures = failures + 1 end
    end
    return failures
    """
    assert lua.execute(code) == 200
