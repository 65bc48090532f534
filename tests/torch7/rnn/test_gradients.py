"""Gradients of recurrent modules against finite differences, and the same results in other ways."""

from __future__ import annotations

import pytest

import bridge

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


@pytest.mark.parametrize(("module", "source"), MODULES)
def test_gradients_are_those_of_finite_differences(rnn: bridge.Lua, module: str, source: str) -> None:
    assert rnn.execute("return checks.gradients(...)", module, source) < 1e-7


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
