"""dpnn: methods of all modules, Inception, glimpses, REINFORCE."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import bridge

CHECKS = Path(__file__).with_name("gradients.lua")
INCEPTION = (
    "nn.Inception{inputSize=2,outputSize={3,2},reduceSize={2,2,1,2},kernelSize={5,3},transfer=nn.Tanh()}"
)
BARE = "nn.Inception{inputSize=2,outputSize={3},reduceSize={2,nil,nil},kernelSize={3},transfer=nn.Tanh()}"
SMALL = "nn.Inception{inputSize=2,outputSize={3},reduceSize={2,1},kernelSize={3},transfer=nn.Tanh(),batchNorm=true}"

MODULES = [
    (INCEPTION, "torch.randn(2,2,6,6)"),
    (INCEPTION, "torch.randn(2,6,6)"),
    (SMALL, "torch.randn(2,2,5,5)"),
    (BARE, "torch.randn(2,2,5,5)"),
    ("nn.Sequential():add(nn.SplitTable(1)):add(nn.ReverseTable()):add(nn.JoinTable(1))", "torch.randn(3,4)"),
    ("nn.Clip(-100,100)", "torch.randn(3,4)"),
    ("nn.CategoricalEntropy()", "torch.rand(3,4)"),
    ("nn.Serial(nn.Linear(4,3))", "torch.randn(3,4)"),
]


@pytest.fixture(scope="module")
def lasting() -> Iterator[bridge.Lua]:
    with bridge.Lua() as lua:
        lua.execute("require 'dpnn' checks = dofile(...)", str(CHECKS))
        lua.execute("""
        net = nn.Sequential():add(nn.Linear(4, 3)):add(nn.Tanh()):add(nn.Linear(3, 2))
        function far(a, b) return (a - b):abs():max() end
        """)
        yield lua


@pytest.fixture
def lua(lasting: bridge.Lua) -> bridge.Lua:
    lasting.execute("""
    torch.manualSeed(1)
    m = net:clone()
    x, g = torch.randn(5, 4), torch.randn(5, 2)
    m:zeroGradParameters() m:forward(x) m:backward(x, g)
    """)
    return lasting


@pytest.mark.parametrize(("module", "source"), [row for row in MODULES if "Entropy" not in row[0]])
def test_gradients_are_those_of_finite_differences(lua: bridge.Lua, module: str, source: str) -> None:
    assert lua.execute("return checks.gradients(...)", module, source, "all") < 1e-7


@pytest.mark.parametrize("way", ["float", "cleared", "cloned", "saved"])
@pytest.mark.parametrize(("module", "source"), MODULES)
def test_results_are_the_same_in_other_ways(lua: bridge.Lua, module: str, source: str, way: str) -> None:
    assert lua.execute("return checks.otherwise(...)", module, source, way) < (
        3e-5 if way == "float" else 1e-13
    )


def test_an_inception_has_its_columns_planes(lua: bridge.Lua) -> None:
    code = f"local m = {INCEPTION} return m:forward(torch.randn(2,2,6,6)):size(2), #m.depthConcat.modules, tostring(m)"
    planes, columns, text = lua.execute(code)
    assert (planes, columns) == (8, 4)
    assert text.startswith("nn.DepthConcat {")
    assert "(3): nn.SpatialConvolution(2 -> 3, 5x5, 1,1, 2,2)" in text


def test_the_gradient_of_entropy_is_that_of_finite_differences(lua: bridge.Lua) -> None:
    code = """
    local m, x = nn.CategoricalEntropy(2), torch.rand(3, 4)
    local zero = torch.zeros(3, 4)
    m:forward(x)
    local gradient = m:backward(x, zero):clone()
    local function loss() m:forward(x) return -2 * m.entropy end
    local worst = 0
    for i = 1, 3 do for j = 1, 4 do
       local before = x[i][j]
       x[i][j] = before + 1e-6
       local above = loss()
       x[i][j] = before - 1e-6
       worst = math.max(worst, math.abs((above - loss()) / 2e-6 - gradient[i][j]))
       x[i][j] = before
    end end
    return worst
    """
    assert lua.execute(code) < 1e-6


# ---- methods of all modules


def test_a_shared_clone_learns_with_the_original(lua: bridge.Lua) -> None:
    code = """
    local clone = m:sharedClone()
    clone:get(1).weight:fill(3)
    clone:get(1).gradWeight:fill(4)
    clone:forward(torch.randn(2, 4))
    return m:get(1).weight:sum(), m:get(1).gradWeight:sum(), m.output:size(1), clone.output:size(1)
    """
    assert lua.execute(code) == (36, 48, 5, 2)


def test_gradients_may_be_the_clones_own(lua: bridge.Lua) -> None:
    code = """
    local clone = m:sharedClone(true, false)
    clone:zeroGradParameters()
    clone:get(1).weight:fill(3)
    return m:get(1).weight:sum(), m:get(1).gradWeight:norm() > 0
    """
    assert lua.execute(code) == (36, True)


def test_clones_stay_shared_when_parameters_are_flattened(lua: bridge.Lua) -> None:
    code = """
    m.aside = {m:get(1):sharedClone()}
    local w = m:getParameters()
    w:fill(2)
    return w:nElement(), m.aside[1].weight:sum(), m:get(3).bias:sum()
    """
    assert lua.execute(code) == (23, 24, 4)


def test_gradients_are_clipped_to_a_norm(lua: bridge.Lua) -> None:
    code = """
    local _, flat = m:getParameters()
    local before = flat:norm()
    local told = m:gradParamClip(before / 2)
    local clipped = flat:norm()
    local kept = m:gradParamClip(100)
    return math.abs(told - before) < 1e-12, clipped / before, math.abs(kept - clipped) < 1e-12,
       math.abs(m:gradParamClip(1e-3, true) - clipped) < 1e-12, m:get(1).gradWeight:norm() < 1e-3
    """
    told, ratio, *others = lua.execute(code)
    assert (told, others) == (True, [True, True, True])
    assert ratio == pytest.approx(0.5)


def test_rows_and_columns_are_scaled_to_a_norm(lua: bridge.Lua) -> None:
    code = """
    m:get(1).weight:fill(1) m:get(1).bias:fill(9)
    m:maxParamNorm(1)
    local rows = m:get(1).weight:norm(2, 2):max()
    m:get(1).weight:fill(1)
    m:maxParamNorm(nil, 1)
    return rows, m:get(1).weight:norm(2, 1):max(), m:get(1).bias[1]
    """
    rows, columns, bias = lua.execute(code)
    assert (rows, columns, bias) == (pytest.approx(1, abs=1e-5), pytest.approx(1, abs=1e-5), 9)


def test_decay_reaches_matrices_only(lua: bridge.Lua) -> None:
    code = """
    m:zeroGradParameters()
    m:weightDecay(0.5)
    return far(m:get(1).gradWeight, m:get(1).weight * 0.5), m:get(1).gradBias:norm()
    """
    assert lua.execute(code) == (0, 0)


@pytest.mark.parametrize("nesterov", ["false", "true"])
def test_momentum_averages_gradients(lua: bridge.Lua, nesterov: str) -> None:
    code = f"""
    local l = nn.Linear(2, 2)
    local average
    local worst = 0
    for step = 1, 3 do
       l.gradWeight:fill(step) l.gradBias:fill(step)
       average = average and average * 0.9 + step * 0.5 or 0.9 * step + 0.5 * step
       l:updateGradParameters(0.9, 0.5, {nesterov})
       local expected = {nesterov} and step + 0.9 * average or average
       worst = math.max(worst, math.abs(l.gradWeight[1][1] - expected), math.abs(l.gradBias[2] - expected))
    end
    return worst
    """
    assert lua.execute(code) < 1e-12


@pytest.mark.parametrize(
    ("mode", "output", "gradient"), [("heavy", 10, 12), ("medium", 0, 12), ("light", 0, 0)]
)
def test_a_serial_writes_what_its_mode_keeps(lua: bridge.Lua, mode: str, output: int, gradient: int) -> None:
    code = f"""
    local s = nn.Serial(m, 'torch.FloatTensor'):{mode}Serial()
    s:forward(x)
    local read = torch.deserialize(torch.serialize(s))
    local inner = read.modules[1]
    assert(m:get(1).weight:type() == 'torch.DoubleTensor' and m.output:nElement() == 10)
    return inner:get(1).weight:type(), inner:get(3).output:nElement(), inner:get(1).gradWeight:nElement()
    """
    assert lua.execute(code) == ("torch.FloatTensor", output, gradient)


def test_samples_become_batches_and_back(lua: bridge.Lua) -> None:
    code = """
    local t = torch.randn(3, 4)
    local batch = m:toBatch(t, 2)
    local back = m:fromBatch(batch, 1)
    local same = m:toBatch(torch.randn(2, 3, 4), 2)
    return batch:size(1), batch:dim(), back:dim(), far(back, t), same:size(1), m:fromBatch(same, 1):dim()
    """
    assert lua.execute(code) == (1, 3, 2, 0, 2, 3)


OTHERS = [
    ("nn.ArgMax(1, 1):forward(torch.Tensor{{1, 3, 2}, {9, 3, 2}}):totable()", [2, 1]),
    ("torch.type(nn.ArgMax(1, 1):float():forward(torch.FloatTensor{{1, 3, 2}}))", "torch.LongTensor"),
    ("nn.Clip(-1, 1):forward(torch.Tensor{-5, 0.5, 5}):totable()", [-1, 0.5, 1]),
    ("nn.Linear(4, 3):outside{2, 4}:totable()", [2, 3]),
    ("nn.Linear(4, 3):dontBackward():backward(x, x) ~= nil", True),
    ("nn.Dictionary(5, 3):forward(torch.Tensor{1, 2}):size():totable()", [2, 3]),
    ("tostring(nn.TotalDropout(0.25))", "nn.TotalDropout(0.250000)"),
    ("pcall(m.checkParameters, m)", True),
    ("tostring(nn.Serial(nn.Tanh()))", "nn.Serial @ nn.Tanh"),
]


@pytest.mark.parametrize(("expression", "value"), OTHERS)
def test_expressions(lua: bridge.Lua, expression: str, value: object) -> None:
    assert lua.eval(expression) == value


def test_dropout_of_all_is_all_or_nothing(lua: bridge.Lua) -> None:
    code = """
    local d, sums = nn.TotalDropout(0.5), {}
    for i = 1, 20 do sums[d:forward(torch.ones(4)):sum()] = true end
    d:evaluate()
    return sums[0], sums[4], d:forward(torch.ones(4)):sum()
    """
    assert lua.execute(code) == (True, True, 4)


# ---- attention


def test_a_glimpse_is_patches_of_growing_size(lua: bridge.Lua) -> None:
    code = """
    local images = torch.range(1, 64):resize(1, 1, 8, 8)
    local y = nn.SpatialGlimpse(2, 2, 2):forward{images, torch.Tensor{{0, 0}}}
    local corner = nn.SpatialGlimpse(2, 1):forward{images, torch.Tensor{{-1, -1}}}
    return y:size():totable(), y[1][1]:totable(), y[1][2]:totable(), corner[1][1]:totable()
    """
    size, inner, outer, corner = lua.execute(code)
    assert size == [1, 2, 2, 2]
    assert inner == [[28, 29], [36, 37]]
    assert outer == [[23.5, 25.5], [39.5, 41.5]]
    assert corner == [[1, 2], [9, 10]]


def test_the_gradient_of_a_glimpse_is_that_of_finite_differences(lua: bridge.Lua) -> None:
    code = """
    local place = torch.Tensor{{0.3, -0.2}, {0.9, 1}}
    local class = torch.class('nn.FixedGlimpse', 'nn.Module')
    function class:__init() nn.Module.__init(self) self.inner = nn.SpatialGlimpse(2, 3, 2) end
    function class:updateOutput(x) self.output = self.inner:forward{x, place} return self.output end
    function class:updateGradInput(x, g)
       self.gradInput = self.inner:updateGradInput({x, place}, g)[1]
       return self.gradInput
    end
    return checks.gradients('nn.FixedGlimpse()', 'torch.randn(2, 2, 7, 7)', 'all')
    """
    assert lua.execute(code) < 1e-7


def test_crops_are_parts_of_the_images(lua: bridge.Lua) -> None:
    code = """
    local c, images = nn.SpatialUniformCrop(3, 2), torch.range(1, 50):resize(2, 1, 5, 5)
    local y = c:forward(images)
    local gradient = c:backward(images, torch.ones(2, 1, 3, 2))
    local same = far(torch.cmul(gradient, images):sum(3):sum(4), y:sum(3):sum(4))
    c:evaluate()
    return y:size():totable(), same, gradient:sum(), c:forward(images)[1][1]:totable()
    """
    assert lua.execute(code) == ([2, 1, 3, 2], 0, 12, [[7, 8], [12, 13], [17, 18]])


# ---- rewards

PROBABILITIES = """
-- minus the reward times the slope of log p(drawn), by finite differences
function slopes(m, input, logp, reward)
   m:forward(input)
   m:reinforce(reward)
   local gradient, worst = m:backward(input, input), 0
   if torch.type(gradient) == 'table' then gradient = gradient[2] input = input[2] end
   for i = 1, input:size(1) do for j = 1, input:size(2) do
      local before = input[i][j]
      input[i][j] = before + 1e-6
      local above = logp(m.output[i], i)
      input[i][j] = before - 1e-6
      local slope = (above - logp(m.output[i], i)) / 2e-6
      input[i][j] = before
      worst = math.max(worst, math.abs(gradient[i][j] + reward[i] * slope))
   end end
   return worst
end
torch.manualSeed(3)
reward = torch.Tensor{1, -0.5}
"""
REINFORCE = [
    (
        "nn.ReinforceNormal(0.7)",
        "torch.randn(2, 3)",
        "-torch.add(drawn, -1, input[i]):pow(2):sum() / (2 * 0.49)",
    ),
    (
        "nn.ReinforceNormal()",
        "{torch.randn(2, 3), torch.rand(2, 3):add(0.5)}",
        "-torch.add(drawn, -1, input[1][i]):cdiv(input[2][i]):pow(2):sum() / 2 - torch.log(input[2][i]):sum()",
    ),
    (
        "nn.ReinforceBernoulli()",
        "torch.rand(2, 3):mul(0.8):add(0.1)",
        "torch.log(torch.add(torch.cmul(drawn, input[i] * 2 - 1), 1 - input[i])):sum()",
    ),
    ("nn.ReinforceCategorical()", "torch.rand(2, 3):add(0.1)", "math.log(torch.cmul(drawn, input[i]):sum())"),
]


@pytest.mark.parametrize(("module", "source", "logp"), REINFORCE)
def test_gradients_are_rewards_times_slopes_of_likelihoods(
    lua: bridge.Lua, module: str, source: str, logp: str
) -> None:
    code = f"""
    local input = {source}
    return slopes({module}, input, function(drawn, i) return {logp} end, reward)
    """
    assert lua.execute(PROBABILITIES + code) < 1e-6


@pytest.mark.parametrize(
    ("module", "source"), [row[:2] for row in REINFORCE if row[0] != "nn.ReinforceNormal()"]
)
def test_in_evaluation_the_input_passes_unless_it_is_to_be_drawn(
    lua: bridge.Lua, module: str, source: str
) -> None:
    code = f"""
    local input, m = {source}, {module}
    m:evaluate()
    local still = far(m:forward(input), input)
    m.stochastic = true
    return still, far(m:forward(input), input) > 0
    """
    assert lua.execute(code) == (0, True)


def test_right_classes_are_rewarded(lua: bridge.Lua) -> None:
    code = """
    local told
    local module = {reinforce = function(_, reward) told = reward:clone() end}
    local c = nn.VRClassReward(module, 2)
    local scores, baseline = torch.Tensor{{0.1, 0.9}, {0.8, 0.2}}, torch.Tensor{0.5, 0.5}
    local loss = c:forward({scores, baseline}, torch.Tensor{2, 2})
    local gradient = c:backward({scores, baseline}, torch.Tensor{2, 2})
    local alone = nn.VRClassReward(module)
    alone:forward(scores, torch.Tensor{2, 2})
    local without = told:totable()
    return loss, without, gradient[1]:sum(), gradient[2]:totable(), alone:backward(scores, torch.Tensor{2, 2}):sum(),
       told:totable()
    """
    assert lua.execute(code) == (-1, [0.75, -0.25], 0, [-1.5, 0.5], 0, [0.25, -0.25])


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (
            "nn.Inception{inputSize=2,outputSize={3},reduceSize={},kernelSize={3}}",
            "kernel 1 of 1 has no size",
        ),
        (
            "r = nn.ReinforceBernoulli() r:forward(x) r:backward(x, x)",
            "reinforce has to be called with a vector of 5 rewards first",
        ),
        ("nn.ReinforceNormal('a'):forward(x)", "stdev must be a number or a tensor"),
        ("nn.SpatialGlimpse('a')", "height must be a number, got string"),
        ("nn.SpatialGlimpse(2):forward(x)", "expected {images, locations}, got torch.DoubleTensor"),
        ("nn.SpatialUniformCrop(9):forward(torch.Tensor(1, 5, 5))", "images of 5 x 5 have no part of 9 x 9"),
        ("nn.Clip(1)", "expected two numbers, got number and nil"),
        ("nn.TotalDropout(1)", "illegal percentage"),
        ("nn.Serial(nn.Tanh(), 'torch.Float')", "expected the name of a tensor type"),
        ("nn.CategoricalEntropy():forward(torch.rand(3))", "only works with batches (2D), got 1D"),
        ("m:serialMode('output')", "expected a table of names, got string"),
        ("m:get(1).weight:fill(0/0) m:checkParameters()", "NaN Error for param at index 1"),
    ],
)
def test_what_cannot_be_is_told(lua: bridge.Lua, code: str, message: str) -> None:
    with pytest.raises(bridge.LuaError) as raised:
        lua.execute(code)
    assert message in raised.value.message
