"""Sequences in parts, states, and gradients through time."""

from __future__ import annotations

import pytest

import bridge


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
