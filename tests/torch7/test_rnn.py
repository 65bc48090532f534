"""rnn: recurrent modules against finite differences, torch's, and one another."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import bridge

CHECKS = Path(__file__).with_name("gradients.lua")
STEPS = "{torch.randn(2,4),torch.randn(2,4),torch.randn(2,4)}"
SINGLE = "{torch.randn(4),torch.randn(4)}"
TENSOR = "torch.randn(5,2,4)"

STEPPED = [
    ("nn.LSTM(4,3)", STEPS),
    ("nn.LSTM(4,3)", SINGLE),
    ("nn.LSTM(4,3,9999,false)", STEPS),
    ("nn.FastLSTM(4,3)", STEPS),
    ("nn.FastLSTM(4,3)", SINGLE),
    ("nn.GRU(4,3)", STEPS),
    ("nn.GRU(4,3)", SINGLE),
    ("nn.Recurrent(3,nn.Linear(4,3),nn.Linear(3,3),nn.Tanh())", STEPS),
    ("nn.Recurrence(nn.Sequential():add(nn.JoinTable(1,1)):add(nn.Linear(7,3)):add(nn.Tanh()),3,1)", STEPS),
    ("nn.Linear(4,3)", STEPS),
    ("nn.Sequential():add(nn.Linear(4,3)):add(nn.FastLSTM(3,3)):add(nn.Tanh()):add(nn.GRU(3,2))", STEPS),
    (
        "nn.LSTM(4,3):maskZero(1)",
        "{torch.randn(2,4),torch.randn(2,4):cmul(torch.Tensor{{1,1,1,1},{0,0,0,0}})}",
    ),
]
MODULES = [
    *((f"nn.Sequencer({module})", source) for module, source in STEPPED if "maskZero" not in module),
    ("nn.Repeater(nn.FastLSTM(4,3),3)", "torch.randn(2,4)"),
    ("nn.Repeater(nn.GRU(4,3),2)", "torch.randn(4)"),
    ("nn.BiSequencer(nn.FastLSTM(4,3))", STEPS),
    ("nn.BiSequencer(nn.GRU(4,3),nn.GRU(4,2))", STEPS),
    ("nn.BiSequencer(nn.Linear(4,3),nn.LSTM(4,3),nn.CAddTable())", STEPS),
    ("nn.SeqLSTM(4,3)", TENSOR),
    ("nn.SeqLSTM(4,3)", "{torch.randn(2,3),torch.randn(5,2,4)}"),
    ("nn.SeqLSTM(4,3)", "{torch.randn(2,3),torch.randn(2,3),torch.randn(5,2,4)}"),
    ("nn.SeqGRU(4,3)", TENSOR),
    ("nn.SeqGRU(4,3)", "{torch.randn(2,3),torch.randn(5,2,4)}"),
    ("nn.SAdd(-1,true)", "torch.randn(3,4)"),
    ("nn.CopyGrad()", "torch.randn(3,4)"),
    ("nn.LinearNoBias(4,3)", "torch.randn(3,4)"),
]


@pytest.fixture(scope="module")
def rnn() -> Iterator[bridge.Lua]:
    with bridge.Lua() as lua:
        lua.execute("require 'rnn' require 'nngraph' checks = dofile(...)", str(CHECKS))
        lua.execute("function far(a, b) return (a - b):abs():max() end")
        yield lua


@pytest.mark.parametrize(("module", "source"), MODULES)
def test_gradients_are_those_of_finite_differences(rnn: bridge.Lua, module: str, source: str) -> None:
    assert rnn.execute("return checks.gradients(...)", module, source, "all") < 1e-7


@pytest.mark.parametrize("way", ["float", "cleared", "cloned", "saved", "noncontiguous"])
@pytest.mark.parametrize(("module", "source"), MODULES)
def test_results_are_the_same_in_other_ways(rnn: bridge.Lua, module: str, source: str, way: str) -> None:
    assert rnn.execute("return checks.otherwise(...)", module, source, way) < (
        1e-5 if way == "float" else 1e-12
    )


@pytest.mark.parametrize(("module", "arguments"), [("SeqLSTM", "batchfirst"), ("SeqGRU", "batchfirst")])
def test_the_batch_may_come_first(rnn: bridge.Lua, module: str, arguments: str) -> None:
    code = f"""
    local m, x, g = nn.{module}(4, 3), torch.randn(5, 2, 4), torch.randn(5, 2, 3)
    local other = m:clone()
    other.{arguments} = true
    local y, gradient = m:forward(x), m:backward(x, g)
    local xt, gt = x:transpose(1, 2), g:transpose(1, 2):contiguous()
    return far(other:forward(xt):transpose(1, 2), y), far(other:backward(xt, gt):transpose(1, 2), gradient)
    """
    assert rnn.execute(code) == (0, 0)


# ---- torch's


def theirs(kind: Any, blocks: list[int], weight: Any, bias: Any) -> Any:
    """One of torch's modules with the parameters of a Seq module, whose columns are these blocks in torch's order."""
    weight, bias = torch.from_numpy(weight), torch.from_numpy(bias)
    hidden = bias.numel() // len(blocks)
    order = torch.cat([torch.arange(k * hidden, (k + 1) * hidden) for k in blocks])
    module = kind(4, hidden).double()
    with torch.no_grad():
        module.weight_ih_l0.copy_(weight[:4, order].T)
        module.weight_hh_l0.copy_(weight[4:, order].T)
        module.bias_ih_l0.copy_(bias[order])
        module.bias_hh_l0.zero_()
    return module


def test_seqlstm_is_torchs_lstm(rnn: bridge.Lua) -> None:
    rng = np.random.default_rng(1)
    x, h, c, g = (rng.normal(size=shape) for shape in ((6, 2, 4), (2, 3), (2, 3), (6, 2, 3)))
    code = """
    local x, h, c, g = ...
    local m = nn.SeqLSTM(4, 3)
    m:zeroGradParameters()
    local y = m:forward{c, h, x}
    local gc, gh, gx = unpack(m:backward({c, h, x}, g))
    return m.weight, m.bias, m.gradWeight, y, gx, gh, gc
    """
    weight, bias, gradient, *ours = rnn.execute(code, x, h, c, g)
    module = theirs(torch.nn.LSTM, [0, 1, 3, 2], weight, bias)
    inputs = [torch.tensor(v, requires_grad=True) for v in (x, h[None], c[None])]
    output, _ = module(inputs[0], (inputs[1], inputs[2]))
    output.backward(torch.from_numpy(g))
    expected = [output, *(v.grad for v in inputs)]
    for our, their in zip(ours, expected, strict=True):
        np.testing.assert_allclose(our, their.detach().numpy().reshape(our.shape), atol=1e-12)  # type: ignore[union-attr]
    order = [*range(6), *range(9, 12), *range(6, 9)]
    np.testing.assert_allclose(gradient[:4, order], module.weight_ih_l0.grad.T.numpy(), atol=1e-12)
    np.testing.assert_allclose(gradient[4:, order], module.weight_hh_l0.grad.T.numpy(), atol=1e-12)


def test_seqgru_with_no_recurrent_candidate_is_torchs_gru(rnn: bridge.Lua) -> None:
    # torch applies the reset gate behind the candidate's matrix, this in front of it: without the matrix they agree
    rng = np.random.default_rng(1)
    x, h = rng.normal(size=(6, 2, 4)), rng.normal(size=(2, 3))
    code = """
    local x, h = ...
    local m = nn.SeqGRU(4, 3)
    m.weight:narrow(1, 5, 3):narrow(2, 7, 3):zero()
    return m.weight, m.bias, m:forward{h, x}
    """
    weight, bias, ours = rnn.execute(code, x, h)
    module = theirs(torch.nn.GRU, [0, 1, 2], weight, bias)
    output, _ = module(torch.from_numpy(x), torch.from_numpy(h[None]))
    np.testing.assert_allclose(ours, output.detach().numpy(), atol=1e-12)


# ---- one another


@pytest.mark.parametrize(
    ("whole", "stepped"), [("nn.SeqLSTM(4,3)", "toFastLSTM"), ("nn.SeqGRU(4,3)", "toGRU")]
)
def test_whole_sequences_are_their_steps(rnn: bridge.Lua, whole: str, stepped: str) -> None:
    code = f"""
    local m, x, g = {whole}, torch.randn(5, 2, 4), torch.randn(5, 2, 3)
    m.bias:normal()
    m:zeroGradParameters()
    local s = nn.Sequencer(m:{stepped}())
    local split = nn.SplitTable(1)
    local y, gradient = m:forward(x), m:backward(x, g)
    local inputs, gradients = split:forward(x), nn.SplitTable(1):forward(g)
    local outputs, gradInputs = s:forward(inputs), s:backward(inputs, gradients)
    local worst = 0
    for t = 1, 5 do
       worst = math.max(worst, far(outputs[t], y[t]), far(gradInputs[t], gradient[t]))
    end
    local _, theirs = s:parameters()
    local _, converted = m:{stepped}():parameters()
    for i, p in ipairs(converted) do worst = math.max(worst, far(p, theirs[i])) end
    return worst
    """
    assert rnn.execute(code) < 1e-12


def test_a_step_as_a_graph_is_the_same_step(rnn: bridge.Lua) -> None:
    code = """
    torch.manualSeed(2)
    local a = nn.Sequencer(nn.FastLSTM(4, 3))
    nn.FastLSTM.usenngraph = true
    torch.manualSeed(2)
    local b = nn.Sequencer(nn.FastLSTM(4, 3))
    nn.FastLSTM.usenngraph = false
    local x, g = {torch.randn(2, 4), torch.randn(2, 4)}, {torch.randn(2, 3), torch.randn(2, 3)}
    a:forward(x) b:forward(x)
    a:backward(x, g) b:backward(x, g)
    return far(a.output[2], b.output[2]), far(a.gradInput[1], b.gradInput[1]) < 1e-15
    """
    assert rnn.execute(code) == (0, True)


def test_parameters_are_drawn_in_their_order(rnn: bridge.Lua) -> None:
    code = """
    torch.manualSeed(5)
    local fast = nn.FastLSTM(4, 3):parameters()
    local gru = nn.GRU(4, 3):parameters()
    torch.manualSeed(5)
    local i2g, o2g = nn.Linear(4, 12), torch.Tensor(12, 3):uniform(-1 / math.sqrt(3), 1 / math.sqrt(3))
    local gates = nn.Linear(4, 6)
    local same = far(fast[1], i2g.weight) + far(fast[2], i2g.bias) + far(fast[3], o2g) + far(gru[1], gates.weight)
    torch.manualSeed(5)
    local seq = nn.SeqLSTM(4, 3)
    torch.manualSeed(5)
    local expected = torch.Tensor(7, 12):normal(0, 1 / math.sqrt(7))
    return same, far(seq.weight, expected), seq.bias:totable(), #nn.LSTM(4, 3):parameters()
    """
    same, weight, bias, count = rnn.execute(code)
    assert (same, weight, bias, count) == (0, 0, [0] * 3 + [1] * 3 + [0] * 6, 15)


# ---- time


def test_evaluation_gives_what_training_gives(rnn: bridge.Lua) -> None:
    code = """
    local s = nn.Sequencer(nn.Sequential():add(nn.FastLSTM(4, 3)):add(nn.Linear(3, 2)))
    local x = {}
    for t = 1, 4 do x[t] = torch.randn(2, 4) end
    local trained = {}
    for t, y in ipairs(s:forward(x)) do trained[t] = y:clone() end
    s:evaluate()
    local worst = 0
    for _, n in ipairs{4, 2, 4} do
       local outputs = s:forward{unpack(x, 1, n)}
       assert(#outputs == n)
       for t = 1, n do worst = math.max(worst, far(outputs[t], trained[t])) end
    end
    s:training()
    return worst, far(s:forward(x)[4], trained[4])
    """
    assert rnn.execute(code) == (0, 0)


REMEMBERING = """
local whole, parts = ...
torch.manualSeed(1)
local m = loadstring('return ' .. whole)()
local x = {}
for t = 1, 6 do x[t] = torch.randn(2, 4) end
local function pass(from, to)
   if torch.type(m):find('Seq[LG]') then
      return m:forward(nn.JoinTable(1):forward({unpack(x, from, to)}):view(to - from + 1, 2, 4)):clone()
   end
   local y = m:forward{unpack(x, from, to)}
   return nn.JoinTable(1):forward(y):clone():view(to - from + 1, 2, 3)
end
local all = pass(1, 6)
m:forget()
m:remember()
local a, b = pass(1, 2), pass(3, 6)
local split = torch.cat({a, b}, 1)
m:forget()
local again = pass(1, 2)
m:remember('neither')
return far(split, all), far(again, a), far(pass(3, 6), b) > 1e-3
"""


@pytest.mark.parametrize(
    "module",
    ["nn.Sequencer(nn.FastLSTM(4,3))", "nn.Sequencer(nn.GRU(4,3))", "nn.SeqLSTM(4,3)", "nn.SeqGRU(4,3)"],
)
def test_a_sequence_may_come_in_parts(rnn: bridge.Lua, module: str) -> None:
    whole, again, different = rnn.execute(REMEMBERING, module)
    assert (again, different) == (0, True)
    assert whole < 1e-14


def test_states_can_be_set_and_their_gradients_read(rnn: bridge.Lua) -> None:
    code = """
    local x, h, c, g = torch.randn(2, 4), torch.randn(2, 3), torch.randn(2, 3), torch.randn(2, 3)
    local lstm, gru = nn.FastLSTM(4, 3), nn.GRU(4, 3)
    local step, gstep = lstm.recurrentModule:clone(), gru.recurrentModule:clone()
    lstm.userPrevOutput, lstm.userPrevCell = h, c
    gru.userPrevOutput = h
    local worst = math.max(far(lstm:forward(x), step:forward{x, h, c}[1]), far(gru:forward(x), gstep:forward{x, h}))
    lstm:backward(x, g) gru:backward(x, g)
    local gradients = step:backward({x, h, c}, {g, torch.zeros(2, 3)})
    return math.max(worst, far(lstm.userGradPrevOutput, gradients[2]), far(lstm.userGradPrevCell, gradients[3]),
       far(gru.userGradPrevOutput, gstep:backward({x, h}, g)[2]))
    """
    assert rnn.execute(code) == 0


def test_gradients_go_back_through_calls_one_by_one(rnn: bridge.Lua) -> None:
    code = """
    local lstm = nn.LSTM(4, 3)
    local s = nn.Sequencer(lstm:clone())
    local x, g = {torch.randn(2, 4), torch.randn(2, 4)}, {torch.randn(2, 3), torch.randn(2, 3)}
    lstm:zeroGradParameters() s:zeroGradParameters()
    for t = 1, 2 do lstm:forward(x[t]) end
    local second, first = lstm:backward(x[2], g[2]):clone(), lstm:backward(x[1], g[1]):clone()
    s:forward(x)
    local gradients = s:backward(x, g)
    local _, a = lstm:parameters()
    local _, b = s:parameters()
    local worst = math.max(far(second, gradients[2]), far(first, gradients[1]))
    for i = 1, #a do worst = math.max(worst, far(a[i], b[i])) end
    return worst
    """
    assert rnn.execute(code) == 0


def test_steps_share_parameters_that_were_flattened(rnn: bridge.Lua) -> None:
    code = """
    local s = nn.Sequencer(nn.Recurrent(3, nn.Linear(4, 3), nn.Linear(3, 3)))
    local x = {torch.randn(2, 4), torch.randn(2, 4), torch.randn(2, 4)}
    s:forward(x)
    local w, g = s:getParameters()
    g:zero()
    local y = s:forward(x)[3]:clone()
    s:backward(x, {torch.ones(2, 3), torch.ones(2, 3), torch.ones(2, 3)})
    w:mul(2)
    return w:nElement(), g:norm() > 0, far(s:forward(x)[3], y) > 0
    """
    assert rnn.execute(code) == (30, True, True)


# ---- padding


@pytest.mark.parametrize("name", ["SeqLSTM", "SeqGRU"])
def test_padding_begins_a_sequence_anew(rnn: bridge.Lua, name: str) -> None:
    code = f"""
    local m, x = nn.{name}(4, 3), torch.randn(5, 2, 4)
    m:maskZero()
    x[3][1]:zero()
    local y = m:forward(x):clone()
    local plain = m:clone()
    plain.maskzero = false
    local later = plain:forward(x:narrow(1, 4, 2):narrow(2, 1, 1):contiguous()):clone()
    local all = plain:forward(x)
    m:forward(x)
    local gradient = m:backward(x, torch.ones(5, 2, 3))
    return y[3][1]:norm(), far(y:narrow(1, 4, 2):narrow(2, 1, 1), later), far(y:select(2, 2), all:select(2, 2)),
       gradient[3][1]:norm()
    """
    assert rnn.execute(code) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("module", "source"), [("nn.SeqLSTM(4,3):maskZero()", ""), ("nn.SeqGRU(4,3):maskZero()", "")]
)
def test_gradients_of_parameters_are_right_with_padding(rnn: bridge.Lua, module: str, source: str) -> None:
    # the input's own slope is not defined at padding: only parameters are compared
    code = f"""
    torch.manualSeed(4)
    local m, x, g = {module}, torch.randn(5, 2, 4), torch.randn(5, 2, 3)
    x[3][1]:zero() x[1][2]:zero()
    m:zeroGradParameters()
    m:forward(x) m:backward(x, g)
    local p, d = m:parameters()
    local worst = 0
    for i = 1, 2 do
       local flat, slopes = p[i]:view(-1), d[i]:view(-1)
       for k = 1, flat:nElement(), 3 do
          local before = flat[k]
          flat[k] = before + 1e-6
          local above = m:forward(x):dot(g)
          flat[k] = before - 1e-6
          worst = math.max(worst, math.abs((above - m:forward(x):dot(g)) / 2e-6 - slopes[k]))
          flat[k] = before
       end
    end
    return worst
    """
    assert rnn.execute(code + source) < 1e-7


def test_masked_steps_are_zeros(rnn: bridge.Lua) -> None:
    code = """
    local s = nn.Sequencer(nn.FastLSTM(4, 3):maskZero(1))
    local x = {torch.randn(2, 4), torch.randn(2, 4), torch.randn(2, 4)}
    x[2][1]:zero()
    local y = s:forward(x)
    local alone = nn.Sequencer(s.module:clone()):forward{x[3][1]}
    local gradients = s:backward(x, {torch.ones(2, 3), torch.ones(2, 3), torch.ones(2, 3)})
    return y[2][1]:norm(), y[2][2]:norm() > 0, far(y[3][1], alone[1]) < 1e-15, gradients[2][1]:norm()
    """
    assert rnn.execute(code) == (0, True, True, 0)


def test_index_zero_of_a_lookup_is_padding(rnn: bridge.Lua) -> None:
    code = """
    local m = nn.LookupTableMaskZero(5, 3)
    local x = torch.Tensor{{0, 2}, {5, 0}}
    local y = m:forward(x)
    m:zeroGradParameters()
    m:backward(x, torch.ones(2, 2, 3))
    return m.weight:size(1), y[1][1]:norm(), far(y[1][2], m.weight[3]), m.gradWeight:sum(2):view(-1):totable()
    """
    assert rnn.execute(code) == (6, 0, 0, [0, 0, 3, 0, 0, 3])


def test_a_masked_criterion_leaves_padding_out(rnn: bridge.Lua) -> None:
    code = """
    local c, inner = nn.MaskZeroCriterion(nn.ClassNLLCriterion(), 1), nn.ClassNLLCriterion()
    local x, target = nn.LogSoftMax():forward(torch.randn(3, 4)):clone(), torch.Tensor{1, 2, 3}
    local kept = torch.LongTensor{1, 3}
    x[2]:zero()
    local loss, gradient = c:forward(x, target), c:backward(x, target)
    local expected = inner:forward(x:index(1, kept), target:index(1, kept))
    local slopes = inner:backward(x:index(1, kept), target:index(1, kept))
    local none = c:forward(torch.zeros(2, 4), torch.ones(2))
    return math.abs(loss - expected), far(c:backward(x, target):index(1, kept), slopes) >= 0, gradient[2]:norm(), none
    """
    code = code.replace(
        "local none", "local same = far(gradient:index(1, kept), slopes)\n    local none"
    ).replace("far(c:backward(x, target):index(1, kept), slopes) >= 0", "same")
    assert rnn.execute(code) == (0, 0, 0, 0)


# ---- criterions


@pytest.mark.parametrize(("name", "target"), [("SequencerCriterion", "{a, b}"), ("RepeaterCriterion", "a")])
def test_losses_of_steps_are_summed(rnn: bridge.Lua, name: str, target: str) -> None:
    code = f"""
    local a, b = torch.randn(2, 3), torch.randn(2, 3)
    local x = {{torch.randn(2, 3), torch.randn(2, 3)}}
    local c, inner = nn.{name}(nn.MSECriterion()), nn.MSECriterion()
    local target = {target}
    local second = torch.type(target) == 'table' and b or a
    local loss, gradients = c:forward(x, target), c:backward(x, target)
    local expected = inner:forward(x[1], a) + inner:forward(x[2], second)
    return loss, expected, far(gradients[2], inner:backward(x[2], second))
    """
    loss, expected, difference = rnn.execute(code)
    assert loss == pytest.approx(expected)
    assert difference == 0


# ---- texts and complaints

TEXTS = [
    ("nn.LSTM(4,3)", "nn.LSTM(4 -> 3)"),
    ("nn.FastLSTM(4,3)", "nn.FastLSTM(4 -> 3)"),
    ("nn.GRU(4,3)", "nn.GRU(4 -> 3, 0.00)"),
    ("nn.Sequencer(nn.LSTM(4,3))", "nn.Sequencer @ nn.LSTM(4 -> 3)"),
    ("nn.Sequencer(nn.Linear(4,3))", "nn.Sequencer @ nn.Recursor @ nn.Linear(4 -> 3)"),
    ("nn.MaskZero(nn.Linear(4,3),1)", "nn.MaskZero @ nn.Linear(4 -> 3)"),
    ("nn.Recurrence(nn.CAddTable(),3,1)", "nn.Recurrence @ nn.CAddTable"),
    ("nn.LinearNoBias(4,3)", "nn.LinearNoBias(4 -> 3) without bias"),
    (
        "nn.Repeater(nn.LSTM(4,3),5)",
        """nn.Repeater {
  [  input,    input,  ...,  input  ]
     V         V             V     
  nn.LSTM(4 -> 3)
     V         V             V     
  [output(1),output(2),...,output(5)]
}""",  # noqa: W291
    ),
]


@pytest.mark.parametrize(("module", "text"), TEXTS)
def test_texts(rnn: bridge.Lua, module: str, text: str) -> None:
    assert rnn.eval(f"tostring({module})") == text


COMPLAINTS = [
    ("nn.Sequencer(3)", "nn.Sequencer: expecting an nn.Module, got number"),
    ("nn.Sequencer(nn.Linear(4,3)):forward(torch.randn(2,4))", "expecting a table of inputs"),
    (
        "s = nn.Sequencer(nn.Linear(4,3)) x = {torch.randn(4)} s:forward(x) s:backward(x, {})",
        "1 elements, got 0",
    ),
    ("nn.LSTM(4,3):backward(torch.randn(4), torch.randn(3))", "at least one updateOutput"),
    ("nn.LSTM(4,3):accGradParameters(torch.randn(4), torch.randn(3))", "Missing updateGradInput"),
    ("nn.LSTM(4,3):backwardThroughTime()", "is gone since January 2016"),
    ("nn.GRU(4,3,9999,0.5)", "dropout inside (p) is not supported"),
    ("nn.Recurrent('a')", "or table, got string"),
    ("nn.Recurrence(nn.CAddTable(), 'a', 1)", "expected sizes of the output, got string"),
    ("nn.Recurrence(nn.CAddTable(), 3, 1):forward(torch.randn(1,1,3))", "got 3"),
    ("nn.Repeater(nn.LSTM(4,3))", "expecting the number of steps"),
    ("nn.Sequencer(nn.Tanh()):remember('ever')", "'eval' or 'neither', got ever"),
    (
        "nn.SeqLSTM(4,3):forward(torch.randn(5,4))",
        "a sequence has 3 dimensions (steps, batch, numbers), got 2",
    ),
    ("nn.SeqLSTM(4,3):forward(torch.randn(5,2,3))", "the sequence must be 5 x 2 x 4, got 5 x 2 x 3"),
    ("nn.SeqLSTM(4,3):forward{torch.randn(1,3), torch.randn(5,2,4)}", "a state must be 2 x 3, got 1 x 3"),
    ("nn.SeqGRU(4,3):forward{1, 2, 3}", "a table of 2 to 2 tensors, got a table of 3"),
    (
        "m = nn.SeqLSTM(4,3) x = torch.randn(5,2,4) m:forward(x) m:backward(x, x)",
        "gradOutput must be 5 x 2 x 3",
    ),
    (
        "m = nn.SeqGRU(4,3):remember() m:forward(torch.randn(5,2,4)) m:forward(torch.randn(5,3,4))",
        "they were 2, now 3",
    ),
    ("nn.MaskZero(nn.Linear(4,3), 1):forward(torch.randn(1,1,4))", "2 for a batch, expected, got 3"),
    ("nn.MaskZeroCriterion(nn.MSECriterion(), 1):forward(torch.randn(4), torch.randn(4))", "online"),
    (
        "nn.SequencerCriterion(nn.ModuleCriterion(nn.MSECriterion()))",
        "should not decorate an nn.ModuleCriterion",
    ),
    ("nn.FastLSTM(4,3):buildGate()", "its gates are computed together"),
]


@pytest.mark.parametrize(("code", "message"), COMPLAINTS)
def test_what_cannot_be_is_told(rnn: bridge.Lua, code: str, message: str) -> None:
    with pytest.raises(bridge.LuaError) as raised:
        rnn.execute(code)
    assert message in raised.value.message


def test_a_network_trains_on_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOONTIDE_CUDA", "cpu")
    with bridge.Lua() as lua:
        code = """
        require 'rnn' require 'cunn'
        torch.manualSeed(1)
        local net = nn.Sequential():add(nn.SeqLSTM(4, 6)):add(nn.SplitTable(1))
           :add(nn.Sequencer(nn.Sequential():add(nn.GRU(6, 5)):add(nn.Linear(5, 3)):add(nn.LogSoftMax()))):cuda()
        local criterion = nn.SequencerCriterion(nn.ClassNLLCriterion()):cuda()
        local x, target = torch.randn(4, 2, 4):cuda(), {}
        for t = 1, 4 do target[t] = torch.Tensor{t % 3 + 1, 1}:cuda() end
        local w, g = net:getParameters()
        local first, last
        for i = 1, 150 do
           g:zero()
           last = criterion:forward(net:forward(x), target)
           first = first or last
           net:backward(x, criterion:backward(net.output, target))
           w:add(-0.3, g)
        end
        return first, last, torch.type(w), torch.type(net.output[1])
        """
        first, last, *kinds = lua.execute(code)
    assert kinds == ["torch.CudaTensor"] * 2
    assert last < first / 5
