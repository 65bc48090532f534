"""nn: what every module can do, what it says of bad input, how it prints, and that it needs no GIL."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

import bridge

HERE = Path(__file__).parent
FACTS = HERE / "nn_facts.lua"
MORE_FACTS = [
    HERE / f"nn_{subject}_facts.lua" for subject in ("bend", "layer", "norm", "shape", "sparse", "tool")
]
MORE = "local path, checks = ... for name, fact in pairs(loadfile(path)(dofile(checks))) do more[name] = fact end"
NET = """
torch.setdefaulttensortype('torch.DoubleTensor')
torch.manualSeed(1)
local net = nn.Sequential():add(nn.Linear(4,3)):add(nn.Tanh()):add(nn.Linear(3,2))
local x = torch.randn(5,4)
"""


@pytest.fixture(scope="module")
def nn() -> Iterator[bridge.Lua]:
    with bridge.Lua() as lua:
        lua.execute("require 'nn'")
        lua.execute("facts, more = dofile(...), {}", str(FACTS))
        for path in MORE_FACTS:
            lua.execute(MORE, str(path), str(HERE / "nn_checks.lua"))
        yield lua


def facts_of(path: Path) -> list[str]:
    return re.findall(r"^facts\['(.*)'\]", path.read_text(), re.MULTILINE)


@pytest.mark.parametrize("fact", facts_of(FACTS))
def test_fact(nn: bridge.Lua, fact: str) -> None:
    assert nn.execute(f"{NET} return facts[...](net, x)", fact) is True


@pytest.mark.parametrize("fact", [fact for path in MORE_FACTS for fact in facts_of(path)])
def test_more_facts(nn: bridge.Lua, fact: str) -> None:
    nn.execute("torch.setdefaulttensortype('torch.DoubleTensor') torch.manualSeed(1)")
    assert nn.execute("return more[...]()", fact) is True


@pytest.mark.parametrize("name", ["test", "testTHNN"])
def test_a_program_can_check_nn_itself(nn: bridge.Lua, name: str) -> None:
    nn.execute("torch.setdefaulttensortype('torch.DoubleTensor')")
    assert nn.execute(
        f"local tester = nn.{name}(nil, 1) return #tester.errors, tester.countasserts >= 30"
    ) == (0, True)


def test_a_self_check_that_fails_is_told(nn: bridge.Lua) -> None:
    code = """
    local original = nn.Tanh.updateGradInput
    nn.Tanh.updateGradInput = nn.Sigmoid.updateGradInput
    local ok, message = pcall(nn.test, 'Tanh', 1)
    nn.Tanh.updateGradInput = original
    return ok, message
    """
    ok, message = nn.execute(code)
    assert ok is False
    assert "An error was found while running tests!" in message


ERRORS: list[tuple[str, str]] = [
    ("nn.Linear(2,3):forward(torch.Tensor(3))", "size mismatch, [3 x 2], [3]"),
    ("nn.Linear(2,3):forward(torch.Tensor(2,2,2))", "input must be vector or matrix"),
    (
        "nn.ClassNLLCriterion():forward(torch.Tensor{-1,-2},3)",
        "Assertion `cur_target >= 0 && cur_target < n_classes'",
    ),
    ("nn.ClassNLLCriterion():forward(torch.randn(2,2),torch.Tensor{1})", "2 targets expected, got 1"),
    ("nn.LookupTable(3,2):forward(torch.Tensor{4})", "index out of range"),
    ("nn.View(4,2):forward(torch.randn(3,3))", "input view (3x3) and desired view (4x2) do not match"),
    ("nn.Dropout(1)", "illegal percentage"),
    ("nn.Tanh():backward(torch.randn(3), torch.randn(2))", ""),
    ("nn.SelectTable(3):forward{torch.randn(1)}", "index does not exist in the input table"),
    ("nn.Linear(2,2):cuda()", "there is no tensor type torch.CudaTensor (no GPU support is loaded"),
    ("nn.Sequential():insert(nn.Tanh(), 3)", "index should be contiguous to existing modules"),
    (
        "nn.NaN(nn.Tanh(),7):forward(torch.Tensor{0/0})",
        "NaN found in input of module :\nnn.NaN @ nn.Tanh id=7",
    ),
    ("nn.NaN(nn.Log()):forward(torch.Tensor{-1})", "NaN found in output of module"),
    ("nn.Decorator(3)", "expected a module to wrap, got number"),
    ("nn.MapTable(nn.Tanh()):add(nn.Tanh())", "Single module required"),
    ("nn.OneHot(3):forward(torch.Tensor{4})", "indices from 1 to 3 expected, got 4 to 4"),
    ("nn.MM():forward{torch.ones(2,3),torch.ones(2,3)}", "matrix sizes do not match"),
    ("nn.MV():forward{torch.ones(2,3),torch.ones(2)}", "matrix row count and vector length do not match"),
    (
        "nn.Bilinear(2,3,1):forward{torch.ones(2,2),torch.ones(2,4)}",
        "dimensionality of second input is erroneous",
    ),
    ("nn.PReLU(3):forward(torch.ones(2,4))", "wrong number of input planes: expected 3, got 4"),
    ("nn.GatedLinearUnit():forward(torch.ones(2,3))", "Halving dimension must be even. Dim 2 is size 3"),
    (
        "nn.Replicate(2,5):forward(torch.ones(2))",
        "Not enough input dimensions to replicate along dimension 5.",
    ),
    ("nn.Constant('x')", "Expecting number or tensor at arg 1"),
    ("nn.RReLU(0.5, 0.1)", "0 <= lower <= upper expected, got 0.5 and 0.1"),
    (
        "nn.MixtureTable():forward{torch.ones(2,3),{torch.ones(2,2)}}",
        "Should be as many experts (1) as gates (3)",
    ),
    ("nn.Parallel(1,1):add(nn.Tanh()):forward(torch.ones(2,3))", "2 slices of the input, but 1 modules"),
    ("nn.ClassSimplexCriterion(1)", "Required positive integer argument nClasses > 1"),
    ("nn.MultiMarginCriterion(3)", "only p == 1 and p == 2 supported, got 3"),
    (
        "nn.MultiMarginCriterion():forward(torch.ones(2,3),torch.Tensor{1,4})",
        "target out of range: classes from 1 to 3",
    ),
    (
        "nn.MultiLabelMarginCriterion():forward(torch.ones(2),torch.Tensor{3,0})",
        "classes from 0 to 2 expected, got 3",
    ),
    ("nn.DistKLDivCriterion():forward(torch.ones(2),torch.ones(3))", "input and target size mismatch"),
    (
        "nn.SpatialClassNLLCriterion():forward(torch.ones(1,2,1,1),torch.Tensor(1,1,1):fill(3))",
        "Assertion `cur_target >= 0 && cur_target < n_classes'",
    ),
    (
        "nn.SpatialClassNLLCriterion():forward(torch.ones(1,2,1,1),torch.ones(1))",
        "only batches of spatial targets",
    ),
    ("nn.CosineEmbeddingCriterion(2)", "margin must lie between -1 and 1, got 2"),
    (
        "nn.IndexLinear(3,2):forward{torch.LongTensor{4},torch.ones(1)}",
        "keys from 1 to 3 expected, got 4 to 4",
    ),
    (
        "nn.SparseLinear(3,2):forward(torch.Tensor{{4,1}})",
        "index out of bound. updateOutput: 4 not between 1 and 3",
    ),
    ("nn.Kmeans(0,2)", "Clusters cannot be 0 or negative."),
    (
        "nn.Kmeans(3,2):initRandom(torch.ones(2,2))",
        "Please provide at least as many samples (2) as clusters (3).",
    ),
    (
        "nn.MSECriterion():forward(nil,nil)",
        "expected input and target to be tensors of one type, got nil and nil",
    ),
    ("nn.MSECriterion():forward(torch.ones(2),3)", "of one type, got torch.DoubleTensor and number"),
    ("nn.FeatureLPPooling(1,1,2)", "width must be at least 2"),
    ("nn.Convert('chw','hwx')", "there is no way from bchw to bhwx"),
    ("nn.WeightNorm(nn.Tanh())", "nn.Tanh has no weight"),
    ("nn.AddConstant({})", "input is not scalar!"),
    ("nn.JoinTable(1):forward{}", "nothing to join: at least one tensor expected"),
    ("nn.MapTable():forward{torch.ones(2)}", "nn.MapTable: no module was added"),
    ("nn.Replicate(0)", "at least one feature expected, got 0"),
    ("nn.SparseLinear(3,2):forward(torch.Tensor{{1,1,1}})", "inconsistent tensor size"),
    (
        "nn.SparseLinear(3,2):forward(torch.Tensor(2,2,3))",
        "bad argument #2 to 'v' (input size must be batchsize x nnz x 2)",
    ),
    ("nn.IndexLinear(3,2):forward{torch.LongTensor{1},{torch.ones(1)}}", "Wrong input format."),
    (
        "nn.IndexLinear(3,2):forward{torch.LongTensor{1,2},torch.ones(1),torch.LongTensor{1}}",
        "Keys and values should be of same size",
    ),
    (
        "nn.LookupTable(3,2,0,1):forward(torch.Tensor{4})",
        "input need to be in the range 1 <= input < 4, but got input of value: 4",
    ),
]


@pytest.mark.parametrize(("expression", "message"), ERRORS)
def test_bad_input_is_told(nn: bridge.Lua, expression: str, message: str) -> None:
    with pytest.raises(bridge.LuaError) as raised:
        nn.eval(expression)
    assert message in raised.value.message


def test_an_error_inside_a_network_says_where(nn: bridge.Lua) -> None:
    code = """
    local inner = nn.Sequential():add(nn.Tanh()):add(nn.Linear(3,2))
    nn.Sequential():add(nn.Linear(2,4)):add(inner):forward(torch.Tensor(2))
    """
    with pytest.raises(bridge.LuaError) as raised:
        nn.execute(code)
    message = raised.value.message
    assert "\nIn 2 module of nn.Sequential:\nIn 2 module of nn.Sequential:\n" in message
    assert "size mismatch, [2 x 3], [4]\nstack traceback:" in message
    assert message.count("stack traceback:") == 1
    assert message.endswith("Please use only the one above.")


def test_an_error_object_passes_through_a_network(nn: bridge.Lua) -> None:
    code = """
    local m = nn.Tanh()
    m.updateOutput = function() error{code = 5} end
    local ok, e = pcall(nn.Sequential().forward, nn.Sequential():add(m), torch.randn(2))
    return e.code
    """
    assert nn.execute(code) == 5


PRINTED: list[tuple[str, str]] = [
    (
        "nn.Sequential():add(nn.Linear(2,3)):add(nn.Sequential():add(nn.ReLU()):add(nn.Dropout(0.3)))",
        (
            "nn.Sequential {\n  [input -> (1) -> (2) -> output]\n  (1): nn.Linear(2 -> 3)\n  (2): nn.Sequential {\n"
            "    [input -> (1) -> (2) -> output]\n    (1): nn.ReLU\n    (2): nn.Dropout(0.300000)\n  }\n}"
        ),
    ),
    (
        "nn.Concat(2):add(nn.Linear(2,3)):add(nn.Identity())",
        "nn.Concat {\n  input\n    |`-> (1): nn.Linear(2 -> 3)\n     `-> (2): nn.Identity\n     ... -> output\n}",
    ),
    (
        "nn.ParallelTable():add(nn.Linear(2,3)):add(nn.ConcatTable():add(nn.Identity()))",
        (
            "nn.ParallelTable {\n  input\n    |`-> (1): nn.Linear(2 -> 3)\n     `-> (2): nn.ConcatTable {\n"
            "           input\n              `-> (1): nn.Identity\n              ... -> output\n         }\n"
            "     ... -> output\n}"
        ),
    ),
    ("nn.Linear(2,3,false)", "nn.Linear(2 -> 3) without bias"),
    ("nn.View(2,-1)", "nn.View(2, -1)"),
    ("nn.Reshape(2,3)", "nn.Reshape(2x3)"),
    ("nn.LookupTable(3,2)", "nn.LookupTable"),
    ("nn.Bilinear(2,3,4,false)", "nn.Bilinear(2x3 -> 4) without bias"),
    ("nn.GPU(nn.Linear(2,3),1)", "nn.GPU(1) @ nn.Linear(2 -> 3)"),
    ("nn.MapTable(nn.Linear(2,3))", "nn.MapTable {\n  nn.Linear(2 -> 3)\n}"),
    ("nn.MapTable()", "nn.MapTable { }"),
    ("nn.PartialLinear(2,3)", "nn.PartialLinear(2 -> 3)"),
    ("nn.LinearWeightNorm(2,3,false)", "nn.LinearWeightNorm(2 -> 3) without bias"),
]


@pytest.mark.parametrize(("expression", "text"), PRINTED)
def test_printed_text(nn: bridge.Lua, expression: str, text: str) -> None:
    assert nn.eval(f"tostring({expression})") == text


def test_loading_draws_the_numbers_of_one_small_linear_layer() -> None:
    code = """
    require 'torch'
    torch.manualSeed(5)
    require 'nn'
    local after = torch.uniform()
    require 'nn'
    local again = torch.uniform()
    torch.manualSeed(5)
    nn.Linear(1, 2)
    return after == torch.uniform(), again == torch.uniform()
    """
    with bridge.Lua() as lua:
        assert lua.execute(code) == (True, True)


@pytest.mark.slow
def test_a_forward_pass_is_not_stopped_by_a_busy_python_thread(nn: bridge.Lua) -> None:
    code = f"{NET} for i = 1, 2000 do net:forward(x) net:backward(x, net.output) end"
    nn.execute(code)
    started = time.perf_counter()
    nn.execute(code)
    alone = time.perf_counter() - started
    busy = True

    def spin() -> None:
        while busy:
            pass

    thread = threading.Thread(target=spin)
    thread.start()
    started = time.perf_counter()
    nn.execute(code)
    beside = time.perf_counter() - started
    busy = False
    thread.join()
    # Taking the GIL once per pass would cost 2000 x 5 ms.
    assert beside < 10 * alone + 1
