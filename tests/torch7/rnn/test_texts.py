"""What recurrent modules print and refuse, and a training on the device."""

from __future__ import annotations

import pytest

import bridge

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


@pytest.mark.slow
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
