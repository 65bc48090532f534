"""Recurrent modules against torch's and against one another."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import bridge

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
