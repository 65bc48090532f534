"""cunn: a batch spread over replicas gives what one module gives."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

import bridge

SETUP = """
torch.manualSeed(1)
module = nn.Sequential():add(nn.Linear(4, 3)):add(nn.Tanh())
x, g = torch.randn(7, 4), torch.randn(7, 3)
prepared, nn.DataParallelTable.deserializeNGPUs = nil, nil
if cutorch.getDeviceCount() > 0 then
   module:cuda()
   x, g = x:cuda(), g:cuda()
end
function far(a, b) return (a:double() - b:double()):abs():max() end
"""


GPU = [pytest.param("", id="gpu")] if torch.cuda.is_available() else []


@pytest.fixture(scope="module", params=["none", "cpu", *GPU])
def lasting(request: pytest.FixtureRequest) -> Iterator[bridge.Lua]:
    """A state without a device, which has cunn's classes alone, and those whose device is the CPU, or a GPU."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MOONTIDE_CUDA", request.param)
        with bridge.Lua() as lua:
            assert lua.eval("(pcall(require, 'cunn'))") == (request.param != "none")
            yield lua


@pytest.fixture
def cunn(lasting: bridge.Lua) -> bridge.Lua:
    """Such a state with a module and a batch; where there is a device, they are the device's."""
    lasting.execute(SETUP)
    return lasting


@pytest.fixture
def without(monkeypatch: pytest.MonkeyPatch) -> Iterator[bridge.Lua]:
    """A new state without a GPU."""
    monkeypatch.setenv("MOONTIDE_CUDA", "none")
    with bridge.Lua() as lua:
        yield lua


def test_without_a_gpu_it_refuses_and_says_what_to_do(without: bridge.Lua) -> None:
    for _ in range(2):  # and not that it is loaded already
        with pytest.raises(bridge.LuaError, match=r"^cunn needs a GPU: .* MOONTIDE_CUDA=cpu") as raised:
            without.execute("require 'cunn'")
        assert "pcall(require, 'cunn')" in raised.value.message
    assert without.eval("cunn") is None
    assert without.eval("cutorch.getDeviceCount()") == 0


@pytest.mark.parametrize("gpu", ["none", "cpu"])
def test_programs_that_ask_for_it_stay_on_the_cpu(monkeypatch: pytest.MonkeyPatch, gpu: str) -> None:
    monkeypatch.setenv("MOONTIDE_CUDA", gpu)
    program = """
    require 'nn'
    local net, x = nn.Linear(3, 2), torch.randn(4, 3)
    local ok, found = pcall(require, 'cunn')
    local ok2, driver = pcall(require, 'cutorch')
    if ok and ok2 then
       cutorch.setDevice(1)
       net, x = net:cuda(), x:cuda()
    end
    return ok, ok2, torch.type(net:forward(x))
    """
    with bridge.Lua() as lua:
        there = gpu == "cpu"
        kind = "torch.CudaTensor" if there else "torch.DoubleTensor"
        assert lua.execute(program) == (there, True, kind)


def test_a_file_of_a_gpu_loads_without_one(lasting: bridge.Lua, without: bridge.Lua, tmp_path: Path) -> None:
    save = """
    torch.manualSeed(1) -- weights whose results do not cancel out: floats have seven digits
    local net = nn.DataParallelTable(1, true):add(nn.Sequential():add(nn.Linear(3, 2)):add(nn.Tanh()), {1, 2}):threads()
    local x = torch.range(1, 12):view(4, 3)
    if cutorch.getDeviceCount() > 0 then
       net:cuda()
       x = x:cuda()
    end
    local y = net:forward(x):double()
    torch.save(..., net)
    return y
    """
    load = """
    pcall(require, 'cunn')
    local dpt = torch.load(...)
    local net = dpt:get(1):double()
    return torch.type(dpt), net:forward(torch.range(1, 12):view(4, 3))
    """
    file = str(tmp_path / "net.t7")
    expected = lasting.execute(save, file)
    kind, y = without.execute(load, file)
    assert kind == "nn.DataParallelTable"
    np.testing.assert_allclose(y, expected, rtol=1e-5)


@pytest.mark.parametrize("gpus", ["{1}", "{1,2}", "{1,2,3}", "{1,2,3,4,5,6,7,8,9}"])
@pytest.mark.parametrize("flatten", ["false", "true"])
@pytest.mark.parametrize("prepare", ["", ":threads()", ":threads(function() prepared = true end)"])
def test_replicas_give_what_one_module_gives(cunn: bridge.Lua, gpus: str, flatten: str, prepare: str) -> None:
    code = f"""
    local one = module:clone()
    local y, gradient
    local dpt = nn.DataParallelTable(1, {flatten}):add(module, {gpus}){prepare}
    local kind = x:type()
    for step = 1, 3 do
       one:zeroGradParameters()
       dpt:zeroGradParameters()
       y, gradient = one:forward(x), one:backward(x, g, 0.5)
       assert(far(dpt:forward(x), y) < 1e-6 and far(dpt:backward(x, g, 0.5), gradient) < 1e-6)
       one:updateParameters(0.1)
       dpt:updateParameters(0.1)
       local _, expected = one:parameters()
       for i, p in ipairs(select(2, dpt:parameters())) do
          assert(far(p, expected[i]) < 1e-6)
       end
       assert(dpt.output:type() == kind and dpt.gradInput:type() == kind)
    end
    return dpt.maxUsedGpu, {prepare.count("prepared")} == (prepared and 1 or 0)
    """
    assert cunn.execute(code) == (min(gpus.count(",") + 1, 7), True)


def test_gradients_in_two_steps_are_those_in_one(cunn: bridge.Lua) -> None:
    code = """
    local a = nn.DataParallelTable(1):add(module:clone(), {1, 2})
    local b = nn.DataParallelTable(1):add(module, {1, 2})
    a:zeroGradParameters() b:zeroGradParameters()
    a:forward(x) b:forward(x)
    a:backward(x, g, 2)
    b:updateGradInput(x, g)
    b:accGradParameters(x, g, 2)
    return far((select(2, a:getParameters())), (select(2, b:getParameters())))
    """
    assert cunn.execute(code) == 0


def test_flat_parameters_are_the_first_replicas(cunn: bridge.Lua) -> None:
    code = """
    local dpt = nn.DataParallelTable(1, true):add(module, {1, 2})
    local w = dpt:getParameters()
    w:fill(0.5)
    dpt:syncParameters()
    local y = dpt:forward(x)
    local first = dpt:get(1)
    return w:nElement(), first.modules[1].weight:sum(), far(y, first:forward(x)), #dpt:findModules('nn.Linear')
    """
    assert cunn.execute(code) == (15, 6, 0, 1)


def test_tables_are_spread_too(cunn: bridge.Lua) -> None:
    code = """
    local inner = nn.ParallelTable():add(module):add(nn.Identity())
    local dpt = nn.DataParallelTable(1):add(inner, {1, 2})
    local y = dpt:forward{x, {g, x}}
    assert(far(y[1], module:clone():forward(x)) < 1e-6 and far(y[2][1], g) == 0 and far(y[2][2], x) == 0)
    local gradient = dpt:backward({x, {g, x}}, {g, {g, x}})
    return gradient[1]:size(1), far(gradient[2][2], x)
    """
    assert cunn.execute(code) == (7, 0)


def test_another_dimension_can_be_split(cunn: bridge.Lua) -> None:
    code = """
    local dpt = nn.DataParallelTable(2):add(nn.Identity():type(x:type()), 1):add(nn.Identity(), 2)
    return far(dpt:forward(x), x), #dpt.outputGpu, dpt.outputGpu[2]:size(2)
    """
    assert cunn.execute(code) == (0, 2, 2)


def test_modes_reach_all_replicas(cunn: bridge.Lua) -> None:
    code = """
    local dpt = nn.DataParallelTable(1):add(nn.Sequential():add(nn.Dropout(0.5)):type(x:type()), {1, 2})
    dpt:forward(x)
    dpt:evaluate()
    local still = far(dpt:forward(x), x)
    dpt:training()
    return still, far(dpt:forward(x), x) > 0, dpt.train
    """
    assert cunn.execute(code) == (0, True, True)


def test_changes_of_the_module_reach_all_replicas(cunn: bridge.Lua) -> None:
    code = """
    local dpt = nn.DataParallelTable(1, true):add(module, {1, 2})
    dpt:forward(x)
    dpt:apply(function(m) if m.weight then m.weight:fill(0) m.bias:fill(1) end end)
    local constant = dpt:forward(x):clone()
    dpt:replace(function(m) return torch.type(m) == 'nn.Tanh' and nn.Identity():type(x:type()) or m end)
    return far(constant, constant.new():resizeAs(constant):fill(math.tanh(1))) < 1e-6, dpt:forward(x):sum()
    """
    assert cunn.execute(code) == (True, 21)


@pytest.mark.parametrize(
    "way", ["torch.deserialize(torch.serialize(dpt))", "dpt:clone()", "dpt:clearState()"]
)
def test_it_can_be_saved_cloned_and_cleared(cunn: bridge.Lua, way: str) -> None:
    code = f"""
    local dpt = nn.DataParallelTable(1, true):add(module, {{1, 2}}):threads()
    local y = dpt:forward(x):clone()
    local other = {way}
    return far(other:forward(x), y), torch.type(other.impl), #other.gpuAssignments
    """
    assert cunn.execute(code) == (0, "nn.DataParallelTable.Threads", 2)


def test_a_file_may_get_another_number_of_replicas(cunn: bridge.Lua) -> None:
    code = """
    local text = torch.serialize(nn.DataParallelTable(1, true):add(module, {1, 2, 3, 4}))
    nn.DataParallelTable.deserializeNGPUs = 2
    local dpt = torch.deserialize(text)
    return #dpt.gpuAssignments, far(dpt:forward(x), module:forward(x)) < 1e-6
    """
    assert cunn.execute(code) == (2, True)


def test_the_text_counts_the_replicas(cunn: bridge.Lua) -> None:
    assert cunn.execute(
        "return tostring(nn.DataParallelTable(1):add(nn.Linear(2, 3), {1, 2}))"
    ) == "DataParallelTable: 2 x nn.Linear(2 -> 3)"  # fmt: skip


def test_its_type_can_be_changed(cunn: bridge.Lua) -> None:
    code = """
    local dpt = nn.DataParallelTable(1, true):add(module, {1, 2})
    local before = dpt:forward(x):double()
    dpt:double()
    return far(dpt:forward(x:double()), before) < 1e-6, dpt.output:type()
    """
    assert cunn.execute(code) == (True, "torch.DoubleTensor")


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("nn.DataParallelTable()", "must specify a dimension"),
        ("nn.DataParallelTable(1, false, true)", "cannot use nccl without flattenParams"),
        ("nn.DataParallelTable(1):add(module)", "table of GPU IDs required, got nil"),
        ("nn.DataParallelTable(1):add(module, {1}):add(module, {2})", "only be called once"),
        (
            "nn.DataParallelTable(1):add(module, {1, 2}):forward('x')",
            "tensor or table of tensors, got string",
        ),
        ("nn.DataParallelTable(3):add(module, {1, 2}):forward(x)", "cannot be split along dimension 3"),
        ("nn.DataParallelTable(1):add(module, {1, 2}):forward(x.new())", "the input is empty"),
        ("nn.DataParallelTable(1):add(module, {1}):clone('weight')", "Sharing not supported"),
        ("nn.DataParallelTable(1):add(module, {1}):share(module, 'weight')", "Share not supported"),
        ("nn.DataParallelTable(1):add(module, {1}):accUpdateGradParameters(x, g, 1)", "not supported"),
    ],
)
def test_what_cannot_be_is_told(cunn: bridge.Lua, code: str, message: str) -> None:
    with pytest.raises(bridge.LuaError) as raised:
        cunn.execute(code)
    assert message in raised.value.message
