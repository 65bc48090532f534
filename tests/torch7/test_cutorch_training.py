"""Networks train with `:cuda()` on every backend as they do on the CPU."""

from __future__ import annotations

import pytest

import bridge

IMAGES = """
require 'optim'
torch.manualSeed(11)
local device = ...
local net = nn.Sequential()
   :add(nn.SpatialConvolution(1, 4, 3, 3, 1, 1, 1, 1)):add(nn.SpatialBatchNormalization(4)):add(nn.ReLU(true))
   :add(nn.SpatialMaxPooling(2, 2, 2, 2)):add(nn.SpatialConvolution(4, 6, 3, 3)):add(nn.ELU())
   :add(nn.SpatialAveragePooling(2, 2)):add(nn.View(6)):add(nn.Linear(6, 3)):add(nn.LogSoftMax()):float()
local criterion = nn.ClassNLLCriterion():float()
local x, y = torch.randn(9, 1, 8, 8):float(), torch.FloatTensor(9)
for i = 1, 9 do
   y[i] = i % 3 + 1
   x[i]:add(y[i] - 2)
end
if device then
   net, criterion, x, y = net:cuda(), criterion:cuda(), x:cuda(), y:cuda()
end
local w, g = net:getParameters()
local state, losses = {learningRate = 0.02}, {}
for i = 1, 12 do
   local _, loss = optim.adam(function()
      g:zero()
      local output = net:forward(x)
      local loss = criterion:forward(output, y)
      net:backward(x, criterion:backward(output, y))
      return loss, g
   end, w, state)
   losses[i] = loss[1]
end
net:evaluate()
local _, classes = net:forward(x):max(2)
return losses, torch.type(w), classes:double():view(-1):totable(), torch.type(state.m)
"""

TEXT = """
require 'nngraph'
require 'optim'
torch.manualSeed(12)
local device, size, words, steps = ..., 6, 5, 4

local function lstm(input, c, h)
   local sums = nn.CAddTable()({nn.Linear(size, 4 * size)(input), nn.Linear(size, 4 * size)(h)})
   local n1, n2, n3, n4 = nn.SplitTable(2)(nn.Reshape(4, size)(sums)):split(4)
   local kept = nn.CMulTable()({nn.Sigmoid()(n1), c})
   local new = nn.CMulTable()({nn.Sigmoid()(n2), nn.Tanh()(n4)})
   local nextc = nn.CAddTable()({kept, new})
   return nextc, nn.CMulTable()({nn.Sigmoid()(n3), nn.Tanh()(nextc)})
end

local word, c, h = nn.Identity()(), nn.Identity()(), nn.Identity()()
local nextc, nexth = lstm(nn.LookupTable(words, size)(word), c, h)
local cell = nn.gModule({word, c, h}, {nextc, nexth, nn.LogSoftMax()(nn.Linear(size, words)(nexth))}):float()
local criterion = nn.ClassNLLCriterion():float()
local text = torch.FloatTensor{{1, 2, 3, 4, 5}, {2, 3, 4, 5, 1}, {5, 4, 3, 2, 1}}
local zero = torch.FloatTensor(3, size):zero()
if device then
   cell, criterion, text, zero = cell:cuda(), criterion:cuda(), text:cuda(), zero:cuda()
end
local w, g = cell:getParameters()
w:uniform(-0.2, 0.2)
w:copy(torch.linspace(-0.3, 0.3, w:nElement()):float())
local cells, criterions = {}, {}
for t = 1, steps do
   cells[t] = cell:clone('weight', 'bias', 'gradWeight', 'gradBias')
   criterions[t] = criterion:clone()
end
local losses, config = {}, {learningRate = 0.02}
for i = 1, 8 do
   local _, loss = optim.rmsprop(function()
      g:zero()
      local c, h, outputs, loss = {[0] = zero}, {[0] = zero}, {}, 0
      for t = 1, steps do
         c[t], h[t], outputs[t] = unpack(cells[t]:forward{text:select(2, t), c[t - 1], h[t - 1]})
         loss = loss + criterions[t]:forward(outputs[t], text:select(2, t + 1))
      end
      local dc, dh = zero:clone(), zero:clone()
      for t = steps, 1, -1 do
         local d = criterions[t]:backward(outputs[t], text:select(2, t + 1))
         local gradients = cells[t]:backward({text:select(2, t), c[t - 1], h[t - 1]}, {dc, dh, d})
         dc, dh = gradients[2]:clone(), gradients[3]:clone()
      end
      g:clamp(-5, 5)
      return loss, g
   end, w, config)
   losses[i] = loss[1]
end
return losses, torch.type(w), torch.type(cells[1].output[2]), torch.type(g)
"""


@pytest.mark.parametrize("program", [IMAGES, TEXT], ids=["images", "text"])
def test_it_trains_as_on_the_cpu(cuda: bridge.Lua, program: str) -> None:
    losses, kind, *rest = cuda.execute(program, True)
    expected, *_ = cuda.execute(program, False)
    assert losses == pytest.approx(expected, rel=2e-3)
    assert losses[-1] < 0.85 * losses[0]
    assert kind == "torch.CudaTensor"
    assert rest[-1] == "torch.CudaTensor"


def test_classes_are_learnt(cuda: bridge.Lua) -> None:
    *_, classes, _ = cuda.execute(IMAGES, True)
    assert classes == [2, 3, 1] * 3


def test_a_trained_network_is_saved_and_continues(cuda: bridge.Lua, tmp_path: object) -> None:
    code = """
    local net = nn.Sequential():add(nn.Linear(3, 2)):add(nn.Tanh()):cuda()
    local x = torch.CudaTensor(4, 3):fill(0.5)
    local before = net:forward(x):clone()
    torch.save(..., net)
    local read = torch.load(...)
    return torch.type(read:get(1).weight), (read:forward(x) - before):abs():max()
    """
    assert cuda.execute(code, f"{tmp_path}/net.t7") == ("torch.CudaTensor", 0)
