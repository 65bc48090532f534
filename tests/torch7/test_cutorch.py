"""cutorch: without a GPU a clear error with the way out; with MOONTIDE_CUDA=cpu GPU programs run on the CPU."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bridge

ELEMENTS = ["Byte", "Char", "Short", "Int", "Long", "Half", "Float", "Double"]
ARITHMETIC = ["Int", "Long", "Float", "Double"]


def cuda_name(element: str) -> str:
    return "Cuda" if element == "Float" else f"Cuda{element}"


@pytest.fixture
def cuda(monkeypatch: pytest.MonkeyPatch) -> Iterator[bridge.Lua]:
    """A state in which the CPU is the one GPU."""
    monkeypatch.setenv("MOONTIDE_CUDA", "cpu")
    with bridge.Lua() as lua:
        lua.execute("require 'cutorch' require 'nn' t = torch.CudaTensor{{1, 2, 3}, {4, 5, 6}}")
        yield lua


@pytest.fixture(scope="module")
def lasting() -> Iterator[bridge.Lua]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("MOONTIDE_CUDA", "cpu")
        with bridge.Lua() as lua:
            lua.execute("require 'cutorch' require 'nn'")
            yield lua


@pytest.fixture
def shared(lasting: bridge.Lua) -> bridge.Lua:
    """Such a state for tests that change nothing but `t`."""
    lasting.execute("t = torch.CudaTensor{{1, 2, 3}, {4, 5, 6}}")
    return lasting


@pytest.fixture
def bare(monkeypatch: pytest.MonkeyPatch) -> Iterator[bridge.Lua]:
    """A state with cutorch and no device."""
    monkeypatch.delenv("MOONTIDE_CUDA", raising=False)
    with bridge.Lua() as lua:
        lua.execute("require 'cutorch' require 'nn'")
        yield lua


# ---- without a device


def test_there_is_no_device(bare: bridge.Lua) -> None:
    assert bare.eval("cutorch.getDeviceCount(), cutorch.getDevice()") == (0, 0)


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("torch.Tensor(2):cuda()", "tensor:cuda()"),
        ("torch.Tensor(2):cudaLong()", "tensor:cudaLong()"),
        ("torch.Tensor(2):type('torch.CudaTensor')", "torch.CudaTensor"),
        ("torch.CudaTensor(2)", "torch.CudaTensor"),
        ("torch.CudaLongStorage(2)", "torch.CudaLongStorage"),
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


def test_cpu_tensors_are_as_ever(bare: bridge.Lua) -> None:
    assert bare.eval("torch.Tensor{1}:type('torch.FloatTensor'):type()") == "torch.FloatTensor"


@pytest.mark.parametrize("value", ["gpu", "none", "0"])
def test_other_values_of_the_variable_are_refused(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("MOONTIDE_CUDA", value)
    with (
        bridge.Lua() as lua,
        pytest.raises(bridge.LuaError, match=f"MOONTIDE_CUDA is 'cpu' .* got '{value}'"),
    ):
        lua.execute("require 'cutorch'")


# ---- the CPU as the device: types

EXPRESSIONS: list[tuple[str, Any]] = [
    ("torch.type(t)", "torch.CudaTensor"),
    ("type(t)", "userdata"),
    ("t:type()", "torch.CudaTensor"),
    ("torch.isTensor(t)", True),
    ("torch.isTypeOf(t, 'torch.CudaTensor')", True),
    ("torch.isTypeOf(t, 'torch.*Tensor')", True),
    ("torch.isTypeOf(t, 'torch.FloatTensor')", False),
    ("torch.typename(t:storage())", "torch.CudaStorage"),
    ("t:storage() == t:storage()", True),
    ("torch.isStorage(t:storage())", True),
    ("t:storage():type()", "torch.CudaStorage"),
    ("torch.type(t:size())", "torch.LongStorage"),
    ("torch.type(#t)", "torch.LongStorage"),
    ("t:size(2)", 3),
    ("t[2][3]", 6),
    ("t[{2, 3}]", 6),
    ("torch.type(t[1])", "torch.CudaTensor"),
    ("torch.type(t[{{}, 1}])", "torch.CudaTensor"),
    ("torch.type(t[t:gt(2)])", "torch.CudaTensor"),
    ("torch.type(t:gt(2))", "torch.CudaByteTensor"),
    ("torch.type(torch.gt(t, 2))", "torch.CudaByteTensor"),
    ("torch.type((t:max(2)))", "torch.CudaTensor"),
    ("torch.type(select(2, t:max(2)))", "torch.CudaLongTensor"),
    ("torch.type(select(2, torch.sort(t)))", "torch.CudaLongTensor"),
    ("torch.type(t:nonzero())", "torch.CudaLongTensor"),
    ("torch.type(t + 1)", "torch.CudaTensor"),
    ("torch.type(-t)", "torch.CudaTensor"),
    ("torch.type(2 * t)", "torch.CudaTensor"),
    ("torch.type(t * t:t())", "torch.CudaTensor"),
    ("torch.type(torch.mm(t, t:t()))", "torch.CudaTensor"),
    ("torch.type(torch.add(t, 1))", "torch.CudaTensor"),
    ("torch.type(torch.cat({t, t}, 1))", "torch.CudaTensor"),
    ("torch.type(t:split(1)[2])", "torch.CudaTensor"),
    ("torch.type(torch.inverse(torch.CudaTensor{{2, 0}, {0, 4}}))", "torch.CudaTensor"),
    ("torch.type(select(2, torch.symeig(torch.CudaTensor{{2, 0}, {0, 4}}, 'V')))", "torch.CudaTensor"),
    ("torch.type(torch.conv2(t, torch.CudaTensor{{1}}))", "torch.CudaTensor"),
    ("torch.type(t.new(3))", "torch.CudaTensor"),
    ("torch.type(t:new())", "torch.CudaTensor"),
    ("torch.type(t:clone())", "torch.CudaTensor"),
    ("torch.type(torch.factory('torch.CudaTensor')())", "torch.CudaTensor"),
    ("torch.getconstructortable('torch.CudaTensor') == torch.CudaTensor", True),
    ("torch.type(t:index(1, torch.LongTensor{1}))", "torch.CudaTensor"),
    ("torch.type(t:index(1, torch.CudaLongTensor{1}))", "torch.CudaTensor"),
    ("torch.type(t:copy(torch.Tensor(2, 3)))", "torch.CudaTensor"),
    ("torch.type(torch.Tensor(2, 3):copy(t))", "torch.DoubleTensor"),
    ("rawequal(t:fill(1), t)", True),
    ("rawequal(t:cuda(), t)", True),
    ("t:sum()", 21),
    ("t:getDevice()", 1),
    ("t:isSameSizeAs(torch.Tensor(2, 3))", True),
    ("torch.type(t:float())", "torch.FloatTensor"),
    ("torch.type(t:long())", "torch.LongTensor"),
    ("torch.type(t:type('torch.DoubleTensor'))", "torch.DoubleTensor"),
    ("torch.type(torch.Tensor(2):typeAs(t))", "torch.CudaTensor"),
    ("torch.type(t:typeAs(torch.Tensor(2)))", "torch.DoubleTensor"),
    ("torch.type(torch.zeros(2))", "torch.DoubleTensor"),
    ("torch.type(torch.add(torch.Tensor(2), 1))", "torch.DoubleTensor"),
    ("torch.type(torch.Tensor(2):gt(1))", "torch.ByteTensor"),
    ("torch.pointer(t) == torch.pointer(t)", True),
]


@pytest.mark.parametrize(("expression", "value"), EXPRESSIONS)
def test_expressions(shared: bridge.Lua, expression: str, value: Any) -> None:
    assert shared.eval(expression) == value


@pytest.mark.parametrize("element", ELEMENTS)
def test_every_type_converts_there_and_back(shared: bridge.Lua, element: str) -> None:
    name = cuda_name(element)
    method = name[0].lower() + name[1:]
    code = f"""
    local cpu = torch.{element}Tensor{{1, 2, 3}}
    local device = cpu:{method}()
    local back = device:{element.lower()}()
    device:fill(7)
    return torch.type(device), torch.type(back), back:double():sum(), cpu:double():sum()
    """
    assert shared.execute(code) == (f"torch.{name}Tensor", f"torch.{element}Tensor", 6, 6)


@pytest.mark.parametrize("element", ELEMENTS)
def test_every_type_has_its_constructor_and_storage(shared: bridge.Lua, element: str) -> None:
    name = cuda_name(element)
    code = f"""
    local a, b = torch.{name}Tensor(2, 3), torch.{name}Tensor(torch.{name}Storage{{1, 2}})
    return a:nElement(), b[2], torch.type(a:storage()), tostring(b):match('%[(.*) of')
    """
    assert shared.execute(code) == (6, 2, f"torch.{name}Storage", f"torch.{name}Tensor")


@pytest.mark.parametrize("element", ARITHMETIC)
def test_arithmetic_stays_in_the_type(shared: bridge.Lua, element: str) -> None:
    name = cuda_name(element)
    code = (
        f"local a = torch.{name}Tensor{{1, 2}} local b = a:clone():add(a):mul(3) return torch.type(b), b[2]"
    )
    assert shared.execute(code) == (f"torch.{name}Tensor", 12)


def test_a_view_is_of_the_same_memory(cuda: bridge.Lua) -> None:
    assert cuda.execute("t:select(1, 2):fill(9) return t[2][1], t:storage()[4]") == (9, 9)


def test_the_text_names_the_type(cuda: bridge.Lua) -> None:
    assert cuda.eval("tostring(t)") == " 1  2  3\n 4  5  6\n[torch.CudaTensor of size 2x3]\n"
    assert cuda.eval("tostring(torch.CudaTensor{1}:storage())") == " 1\n[torch.CudaStorage of size 1]\n"


def test_a_result_that_was_given_keeps_its_type(cuda: bridge.Lua) -> None:
    code = (
        "local r = torch.FloatTensor() torch.add(r, t:float(), 1) return torch.type(r), torch.type(t:copy(r))"
    )
    assert cuda.execute(code) == ("torch.FloatTensor", "torch.CudaTensor")


def test_a_device_tensor_may_be_the_default(cuda: bridge.Lua) -> None:
    code = """
    torch.setdefaulttensortype('torch.CudaTensor')
    local named = torch.getdefaulttensortype()
    local made = {torch.type(torch.Tensor(2)), torch.type(torch.zeros(2)), torch.type(nn.Linear(2, 2).weight),
       torch.type(torch.getRNGState()), torch.type(torch.add(torch.FloatTensor(2), 1))}
    torch.setdefaulttensortype('torch.FloatTensor')
    return named, made, torch.type(torch.zeros(2)), torch.getdefaulttensortype()
    """
    assert cuda.execute(code) == (
        "torch.CudaTensor",
        ["torch.CudaTensor"] * 3 + ["torch.ByteTensor", "torch.FloatTensor"],
        "torch.FloatTensor",
        "torch.FloatTensor",
    )


def test_they_cross_to_python_as_arrays_over_the_same_memory(cuda: bridge.Lua) -> None:
    array = cuda.eval("t")
    assert array.dtype == np.float32
    array[0, 0] = 50
    assert cuda.eval("t[1][1]") == 50
    assert cuda.eval("t:storage()").tolist() == [50, 2, 3, 4, 5, 6]


def test_they_are_written_and_read_as_what_they_are(cuda: bridge.Lua, tmp_path: Path) -> None:
    code = """
    torch.save(..., {t, t:storage(), torch.CudaLongTensor{5}})
    local read = torch.load(...)
    return torch.type(read[1]), torch.type(read[2]), torch.type(read[3]), read[1][2][3]
    """
    file = str(tmp_path / "cuda.t7")
    assert cuda.execute(code, file) == ("torch.CudaTensor", "torch.CudaStorage", "torch.CudaLongTensor", 6)
    with bridge.Lua() as without:
        without.require("torch")
        kinds = "local read = torch.load(...) return torch.type(read[1]), torch.type(read[3]), read[1][2][3]"
        assert without.execute(kinds, file) == ("torch.FloatTensor", "torch.LongTensor", 6)


def test_many_are_made_and_collected(cuda: bridge.Lua) -> None:
    assert cuda.execute(
        "local s = 0 for i = 1, 20000 do s = s + torch.CudaTensor(1000):fill(1)[1] end return s"
    ) == 20000  # fmt: skip


# ---- modules

TRAIN = """
torch.manualSeed(3)
local net = nn.Sequential():add(nn.Linear(4, 8)):add(nn.Tanh()):add(nn.Linear(8, 3)):add(nn.LogSoftMax())
local criterion = nn.ClassNLLCriterion()
local x, y = torch.randn(6, 4):float(), torch.FloatTensor{1, 2, 3, 1, 2, 3}
net:float() criterion:float()
if ... then
   net, criterion, x, y = net:cuda(), criterion:cuda(), x:cuda(), y:cuda()
end
local w, g = net:getParameters()
local loss
for i = 1, 20 do
   g:zero()
   local output = net:forward(x)
   loss = criterion:forward(output, y)
   net:backward(x, criterion:backward(output, y))
   w:add(-0.5, g)
end
return loss, torch.type(w), torch.type(net.output), torch.type(net.gradInput), torch.type(net:clone().output)
"""


def test_a_network_trains_as_on_the_cpu(cuda: bridge.Lua) -> None:
    loss, *kinds = cuda.execute(TRAIN, True)
    expected, *_ = cuda.execute(TRAIN, False)
    assert kinds == ["torch.CudaTensor"] * 4
    assert loss == expected
    assert loss < 0.5


MODULES = [
    (entry["ctor"], entry["inputsrc"])
    for path in sorted((Path(__file__).parents[1] / "data" / "torch7").glob("nn*.json"))
    for entry in json.loads(path.read_text()).get("modules", [])
    if not re.match(
        r"nn\.(Dropout|SpatialDropout|VolumetricDropout|RReLU|WhiteNoise|\w*FractionalMaxPooling)",
        entry["ctor"],
    )  # they draw
]

BOTH = """
local ctor, inputsrc = ...
-- What f makes of every tensor, in tables nested as the tensors are.
local function each(value, f)
   if torch.isTensor(value) then
      return f(value)
   end
   local made = {}
   for key, inner in pairs(value) do
      made[key] = each(inner, f)
   end
   return made
end
local function pass(typename)
   torch.manualSeed(7)
   local module, input = loadstring('return ' .. ctor)(), loadstring('return ' .. inputsrc)()
   module:type(typename)
   module:zeroGradParameters()
   input = each(input, function(t) -- indices stay what they are
      return torch.type(t) == 'torch.LongTensor' and t or t:type(typename)
   end)
   local output = module:forward(input)
   local result = {output = each(output, function(t) return t:float():clone() end)}
   local gradInput = module:backward(input, each(output, function(t) return t:clone():fill(1) end))
   local kinds = {}
   each({output, gradInput}, function(t) kinds[torch.type(t)] = true end)
   result.gradInput = gradInput and each(gradInput, function(t) return t:float() end)
   return kinds, result
end
local _, expected = pass('torch.FloatTensor')
local kinds, got = pass('torch.CudaTensor')
return kinds, expected, got
"""


def flat(values: Any) -> list[float]:
    if isinstance(values, dict):
        values = [values[key] for key in sorted(values)]
    if isinstance(values, list):
        return [x for value in values for x in flat(value)]
    return np.asarray(values, dtype=float).ravel().tolist() if values is not None else []


@pytest.mark.parametrize(("ctor", "inputsrc"), MODULES)
def test_every_module_computes_on_the_device_what_it_does_on_the_cpu(
    shared: bridge.Lua, ctor: str, inputsrc: str
) -> None:
    kinds, expected, got = shared.execute(BOTH, ctor, inputsrc)
    assert {kind for kind in kinds if "Cuda" not in kind} <= {"torch.LongTensor"}
    assert flat(got) == pytest.approx(flat(expected), nan_ok=True)


def test_shared_parameters_stay_shared(cuda: bridge.Lua) -> None:
    code = """
    local a = nn.Linear(2, 2)
    local net = nn.Sequential():add(a):add(a:clone('weight', 'bias')):cuda()
    net:get(1).weight:fill(5)
    return net:get(2).weight[1][1], torch.type(net:get(2).weight), net:type()
    """
    assert cuda.execute(code) == (5, "torch.CudaTensor", "torch.CudaTensor")


def test_a_network_comes_back(cuda: bridge.Lua) -> None:
    code = "return torch.type(nn.Linear(2, 2):cuda():float():forward(torch.FloatTensor(2)))"
    assert cuda.execute(code) == "torch.FloatTensor"


# ---- devices, generators, streams

CALLS: list[tuple[str, Any]] = [
    ("cutorch.getDeviceCount()", 1),
    ("cutorch.getDevice()", 1),
    ("select('#', cutorch.setDevice(1))", 0),
    ("select('#', cutorch.synchronize())", 0),
    ("select('#', cutorch.synchronizeAll())", 0),
    ("cutorch.withDevice(1, function(a) return a, 2 end, 1)", (1, 2)),
    ("cutorch.getPeerToPeerAccess(1, 1)", True),
    ("cutorch.getKernelPeerToPeerAccess()", False),
    ("cutorch.getNumStreams()", 0),
    ("cutorch.getStream()", 0),
    ("cutorch.getNumBlasHandles()", 1),
    ("cutorch.Event():record():query()", True),
    ("torch.type(cutorch.createCudaHostTensor(2, 3))", "torch.DoubleTensor"),
    ("torch.type(cutorch.createCudaHostTensor('torch.FloatTensor', 2, 3))", "torch.FloatTensor"),
    ("cutorch.createCudaHostFloatTensor(2, 3):nElement()", 6),
    ("type(cutorch.getDeviceProperties(1).name)", "string"),
    ("cutorch.hasHalf", True),
]


@pytest.mark.parametrize(("expression", "value"), CALLS)
def test_calls(shared: bridge.Lua, expression: str, value: Any) -> None:
    assert shared.eval(expression) == value


def test_memory_is_that_of_the_machine(cuda: bridge.Lua) -> None:
    free, total = cuda.eval("cutorch.getMemoryUsage(1)")
    properties = cuda.eval("cutorch.getDeviceProperties(1)")
    assert 0 < free < total == properties["totalGlobalMem"]


def test_streams_are_numbered_as_they_are_reserved(cuda: bridge.Lua) -> None:
    code = """
    cutorch.reserveStreams(2)
    cutorch.setStream(2)
    cutorch.streamWaitFor(1, {2})
    cutorch.streamBarrier{0, 1, 2}
    cutorch.streamBarrierMultiDevice{[1] = {1, 2}}
    cutorch.streamWaitForMultiDevice(1, 1, {[1] = {2}})
    cutorch.streamSynchronize(2)
    local set = cutorch.getStream()
    cutorch.setDefaultStream()
    return cutorch.getNumStreams(), set, cutorch.getStream()
    """
    assert cuda.execute(code) == (2, 2, 0)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("cutorch.setDevice(2)", "invalid device ordinal: cutorch.setDevice(2), there is 1 device"),
        ("cutorch.setDevice(0)", "invalid device ordinal"),
        ("cutorch.setDevice()", "bad argument #1 to 'setDevice' (number expected, got no value)"),
        (
            "cutorch.setStream(1)",
            "(Stream between 0 and 0 expected, got 1; cutorch.reserveStreams makes more)",
        ),
        ("cutorch.setBlasHandle(2)", "(BlasHandle between 1 and 1 expected, got 2"),
        ("torch.Tensor(2):type('torch.CudaNoTensor')", "attempt to index a nil value"),
        ("cutorch.withDevice(1, function() error('mine', 0) end)", "mine"),
        ("torch.CudaTensor(2)[3]", "out of range"),
        ("torch.CudaTensor(2):add(torch.CudaTensor(3))", "inconsistent tensor size"),
    ],
)
def test_what_cannot_be_is_told(shared: bridge.Lua, code: str, message: str) -> None:
    with pytest.raises(bridge.LuaError) as raised:
        shared.execute(
            f"local _ = nil {code.replace('torch.CudaTensor(2)[3]', '_ = torch.CudaTensor(2)[3]')}"
        )
    assert message in raised.value.message


def test_the_device_has_random_numbers_of_its_own(cuda: bridge.Lua) -> None:
    code = """
    torch.manualSeed(7)
    local cpu = torch.uniform()
    torch.manualSeed(7)
    cutorch.manualSeed(5)
    local state = cutorch.getRNGState()
    local first = torch.CudaTensor(3):uniform():totable()
    local same = torch.uniform() == cpu
    cutorch.setRNGState(state)
    local second = torch.CudaTensor(3):uniform():totable()
    cutorch.manualSeedAll(5)
    local third = torch.CudaTensor(3):uniform():totable()
    return same, first, second, third, cutorch.initialSeed(), cutorch.seed() ~= 5
    """
    same, first, second, third, seed, reseeded = cuda.execute(code)
    assert same is True
    assert first == second == third
    assert (seed, reseeded) == (5, True)


@pytest.mark.parametrize(
    "draw",
    [
        "uniform(1, 2)",
        "normal()",
        "bernoulli(0.5)",
        "exponential(1)",
        "random(10)",
        "geometric(0.5)",
        "cauchy()",
    ],
)
def test_draws_fill_the_tensor(shared: bridge.Lua, draw: str) -> None:
    code = f"local t = torch.CudaTensor(50):fill(-77) t:{draw} return t:eq(-77):sum(), torch.type(t)"
    assert shared.execute(code) == (0, "torch.CudaTensor")
