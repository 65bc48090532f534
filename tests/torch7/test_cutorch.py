"""cutorch where there is no device: a clear error with the way out."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
import torch

import bridge


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> Iterator[bridge.Lua]:
    """A state with cutorch and no device."""
    monkeypatch.setenv("MOONTIDE_CUDA", "none")
    with bridge.Lua() as lua:
        lua.execute("require 'cutorch' require 'nn'")
        yield lua


def test_there_is_no_device(bare: bridge.Lua) -> None:
    assert bare.eval("cutorch.getDeviceCount(), cutorch.getDevice()") == (0, 0)


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("torch.Tensor(2):cuda()", "tensor:cuda()"),
        ("torch.Tensor(2):cudaLong()", "tensor:cudaLong()"),
        ("torch.Tensor(2):type('torch.CudaTensor')", "torch.CudaTensor"),
        ("nn.Linear(2, 2):cuda()", "torch.CudaTensor"),
        ("nn.MSECriterion():cuda()", "torch.CudaTensor"),
        ("cutorch.setDevice(1)", "cutorch.setDevice"),
        ("cutorch.manualSeed(1)", "cutorch.manualSeed"),
        ("cutorch.synchronize()", "cutorch.synchronize"),
        ("cutorch.getMemoryUsage()", "cutorch.getMemoryUsage"),
        ("cutorch.reserveStreams(1)", "cutorch.reserveStreams"),
        ("cutorch.Event()", "cutorch.Event"),
    ],
)
def test_what_needs_a_device_tells_the_way_out(bare: bridge.Lua, code: str, what: str) -> None:
    with pytest.raises(bridge.LuaError, match=re.escape(f"{what} needs a GPU: ") + ".*Set MOONTIDE_CUDA=cpu"):
        bare.execute(code)


@pytest.mark.parametrize("package", ["torch", "nn", "cutorch", "cudnn", "cunn", "image", "rnn"])
def test_there_are_no_cuda_types(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    monkeypatch.setenv("MOONTIDE_CUDA", "none")
    with bridge.Lua() as lua:
        lua.execute("pcall(require, ...) require 'torch'", package)
        assert (
            lua.execute("for name in pairs(torch) do if name:find('Cuda') then return name end end") is None
        )
        assert lua.eval("torch.getmetatable('torch.CudaTensor')") is None


def test_whether_there_is_cudnn_tells_nothing_of_a_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOONTIDE_CUDA", "none")
    with bridge.Lua() as lua:
        assert lua.execute("return pcall(require, 'cudnn')")[0]
        assert lua.eval("cutorch == nil and package.loaded.cutorch == nil and cudnn ~= nil")
        with pytest.raises(bridge.LuaError, match=r"needs a GPU: .*Set MOONTIDE_CUDA=cpu"):
            lua.execute("cudnn.ReLU():cuda()")
        assert lua.execute("local c = require 'cutorch' return c == cutorch, c.getDeviceCount()") == (True, 0)
        lua.execute("package.loaded.cudnn = nil require 'cudnn'")
        assert lua.eval("cutorch.getDeviceCount()") == 0


def test_cpu_tensors_are_as_ever(bare: bridge.Lua) -> None:
    assert bare.eval("torch.Tensor{1}:type('torch.FloatTensor'):type()") == "torch.FloatTensor"


@pytest.mark.parametrize("value", ["gpu", "cuda", "0"])
def test_other_values_of_the_variable_are_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("MOONTIDE_CUDA", value)
    with (
        bridge.Lua() as lua,
        pytest.raises(bridge.LuaError, match=f"MOONTIDE_CUDA is 'cpu' .* got '{value}'"),
    ):
        lua.execute("require 'cutorch'")


def test_the_devices_are_torch_s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("MOONTIDE_CUDA", raising=False)
    with bridge.Lua() as lua:
        lua.require("cutorch")
        count = torch.cuda.device_count() if torch.cuda.is_available() else 0
        assert lua.eval("cutorch.getDeviceCount()") == count
