"""Padding in sequences, and criterions over steps."""

from __future__ import annotations

import pytest

import bridge

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
