-- Facts about single modules and criterions that data of a real Torch7 and gradient checks do not cover.
local checks = ...
local near, printed = checks.near, checks.printed
local facts = {}

facts['clearing a SelectTable leaves its input alone'] = function()
   local x = torch.ones(3)
   local m = nn.Sequential():add(nn.SelectTable(1)):add(nn.Tanh())
   m:forward{x}
   m:clearState()
   return x:nElement() == 3 and m:get(1).output:nElement() == 0
end

facts['RReLU draws slopes and evaluates the mean'] = function()
   local m, x = nn.RReLU(0.2, 0.4), torch.randn(100)
   local slopes = torch.cdiv(m:forward(x), x)
   local low = slopes[x:le(0)]
   local drawn = low:min() >= 0.2 and low:max() <= 0.4 and low:std() > 0 and slopes[x:gt(0)]:min() == 1
   m:evaluate()
   return drawn and near(torch.cdiv(m:forward(x), x)[x:le(0)], torch.Tensor(low:nElement()):fill(0.3))
end

facts['WhiteNoise is a mean in evaluation'] = function()
   local m, x = nn.WhiteNoise(2, 1), torch.randn(10)
   m:evaluate()
   return near(m:forward(x), x + 2)
end

facts['PrintSize prints'] = function()
   local m = nn.PrintSize('here')
   local lines = printed(function() m:forward(torch.randn(2, 3)) m:backward(nil, torch.randn(2, 3)) end)
   local size = tostring(torch.LongStorage{2, 3})
   return lines[1] == 'here:input\n\t' .. size and lines[2] == 'here:gradOutput\n\t' .. size
end

facts['Profile reports every so many passes'] = function()
   local m = nn.Profile(nn.Linear(2, 2), 2, 'lin')
   local x = torch.randn(2)
   local lines = printed(function() for _ = 1, 4 do m:backward(x, m:forward(x)) end end)
   return #lines == 4 and lines[1]:match('^lin took [%d.]+ seconds for 2 forward passes$') ~= nil
      and lines[2]:match('^lin took [%d.]+ seconds for 2 backward passes$') ~= nil
end

facts['Copy converts'] = function()
   local m = nn.Copy('torch.FloatTensor', 'torch.DoubleTensor')
   local y = m:forward(torch.FloatTensor{1, 2})
   return y:type() == 'torch.DoubleTensor' and m:backward(nil, y):type() == 'torch.FloatTensor'
end

facts['Copy of one type is the input'] = function()
   local x = torch.randn(2)
   return nn.Copy('torch.DoubleTensor', 'torch.DoubleTensor'):forward(x) == x
end

facts['DontCast keeps a type'] = function()
   local inner = nn.Linear(2, 2)
   local net = nn.Sequential():add(nn.DontCast(inner, true)):add(nn.Tanh()):float()
   local y = net:forward(torch.randn(3, 2):float())
   net:backward(torch.randn(3, 2):float(), y)
   return y:type() == 'torch.FloatTensor' and inner.weight:type() == 'torch.DoubleTensor'
      and net.gradInput:type() == 'torch.FloatTensor' and inner.gradWeight:norm() > 0
end

facts['MapTable shares parameters'] = function()
   local m = nn.MapTable(nn.Linear(2, 2))
   m:forward{torch.randn(3, 2), torch.randn(3, 2), torch.randn(3, 2)}
   local shared = #m.modules == 3 and m:get(1).weight:storage() == m:get(3).weight:storage()
   local params = m:getParameters()
   m:clearState()
   return shared and params:nElement() == 6 and #m.modules == 1
end

facts['OneHot takes a number'] = function()
   return near(nn.OneHot(3):forward(2), torch.Tensor{0, 1, 0})
end

facts['OneHot takes a matrix'] = function()
   local y = nn.OneHot(3):forward(torch.Tensor{{1, 2}, {3, 1}})
   return y:dim() == 3 and near(y[2][1], torch.Tensor{0, 0, 1}) and y:sum() == 4
end

facts['Constant comes once for each of a batch'] = function()
   local y = nn.Constant(torch.Tensor{1, 2}, 1):forward(torch.randn(3, 7))
   return near(y, torch.Tensor{{1, 2}, {1, 2}, {1, 2}})
end

facts['L1Penalty keeps its loss'] = function()
   local m, x = nn.L1Penalty(0.5, true, false), torch.Tensor{1, -3}
   return m:forward(x) == x and m.loss == 1 and near(m:backward(x, torch.ones(2)), torch.Tensor{0.25, -0.25})
end

facts['LinearWeightNorm follows Linear'] = function()
   local linear, x = nn.Linear(4, 3), torch.randn(2, 4)
   local m = nn.LinearWeightNorm.fromLinear(linear)
   m.g:mul(2)
   local twice = m:forward(x):clone()
   return near(twice, (linear:forward(x) - linear.bias:view(1, 3):expand(2, 3)) * 2
      + linear.bias:view(1, 3):expand(2, 3)) and near(m:toLinear():forward(x), twice)
end

facts['WeightNorm zeroes and steps its own parameters'] = function()
   local m, x = nn.WeightNorm(nn.Linear(4, 3)), torch.randn(2, 4)
   m:backward(x, m:forward(x))
   local g, gradient = m.g:clone(), m.gradG:clone()
   m:updateParameters(0.5)
   m:zeroGradParameters()
   return near(m.g, g - gradient * 0.5) and m.gradV:norm() == 0 and m.gradG:norm() == 0 and m.gradBias:norm() == 0
end

facts['PartialLinear computes its partition'] = function()
   local m, x = nn.PartialLinear(4, 5), torch.randn(2, 4)
   m.bias:uniform()
   local full = m:forward(x):clone()
   m:setPartition(torch.Tensor{2, 5})
   local part = m:forward(x)
   m:zeroGradParameters()
   m:backward(x, torch.ones(2, 2))
   local learns = near(m.gradBias, torch.Tensor{{0, 2, 0, 0, 2}})
   m:resetPartition()
   return near(part, full:index(2, torch.LongTensor{2, 5})) and learns and near(m:forward(x), full)
end

facts['ModuleFromCriterion gives a loss as a tensor'] = function()
   local m, x, y = nn.ModuleFromCriterion(nn.MSECriterion()), torch.randn(3), torch.randn(3)
   local loss = m:forward{x, y}
   local gradient = m:backward({x, y}, torch.Tensor{2})
   return loss[1] == nn.MSECriterion():forward(x, y) and near(gradient[1], (x - y) * (4 / 3))
      and gradient[2]:norm() == 0
end

facts['CriterionTable takes input and target'] = function()
   local m, x, y = nn.CriterionTable(nn.MSECriterion()), torch.randn(3), torch.randn(3)
   return m:forward{x, y} == nn.MSECriterion():forward(x, y) and near(m:backward({x, y})[1], (x - y) * (2 / 3))
end

facts['ModuleCriterion leaves the target as its type'] = function()
   local c = nn.ModuleCriterion(nn.MSECriterion(), nn.Tanh(), nn.Identity(), false):float()
   return c.inputModule:type() == 'torch.FloatTensor' and c.targetModule:type() == 'torch.DoubleTensor'
end

facts['MaskedSelect takes and gives back'] = function()
   local m, x, mask = nn.MaskedSelect(), torch.Tensor{1, 2, 3}, torch.ByteTensor{1, 0, 1}
   local y = m:forward{x, mask}
   local gradient = m:backward({x, mask}, torch.Tensor{5, 7})
   return near(y, torch.Tensor{1, 3}) and near(gradient[1], torch.Tensor{5, 0, 7}) and gradient[2]:sum() == 0
end

facts['MaskedSelect keeps its mask bytes'] = function()
   local m = nn.MaskedSelect():float()
   local y = m:forward{torch.FloatTensor{1, 2}, torch.ByteTensor{0, 1}}
   return y:type() == 'torch.FloatTensor' and m._gradMask:type() == 'torch.ByteTensor'
end

facts['ClassSimplexCriterion predicts its vertices'] = function()
   local c = nn.ClassSimplexCriterion(5)
   local products = c.simplex * c.simplex:t()
   local regular = near(products, torch.eye(5) * 1.25 - torch.ones(5, 5) * 0.25)
   return regular and near(c:getTopPrediction(c.simplex:clone()), torch.LongTensor{1, 2, 3, 4, 5}, 0.5)
end

facts['Convert joins and exchanges dimensions'] = function()
   local x = torch.randn(2, 3, 4, 5)
   return near(nn.Convert('bchw', 'bf'):forward(x), x:view(2, 60)) and near(nn.Convert('chw', 'f'):forward(x[1]),
      x[1]:contiguous():view(60)) and near(nn.Convert('chw', 'hwc'):forward(x), x:permute(1, 3, 4, 2))
end

facts['Convert gives its own type'] = function()
   local m = nn.Convert():float()
   local x = torch.IntTensor{1, 2}
   return m:forward(x):type() == 'torch.FloatTensor' and m:backward(x, m.output):type() == 'torch.IntTensor'
end

facts['GradientReversal turns the gradient round'] = function()
   local m, x, g = nn.GradientReversal(0.5), torch.randn(3), torch.randn(3)
   return near(m:forward(x), x) and near(m:backward(x, g), g * -0.5)
end

facts['ZeroGrad stops the gradient'] = function()
   local m, x = nn.ZeroGrad(), {torch.randn(3), {torch.randn(2)}}
   m:forward(x)
   m:backward(x, x)
   return m.output == x and m.gradInput[1]:norm() == 0 and m.gradInput[2][1]:norm() == 0
end

facts['AddConstant and MulConstant take tensors'] = function()
   local x, row = torch.randn(2, 3), torch.Tensor{1, 2, 3}
   local rows = row:view(1, 3):expand(2, 3)
   local times = nn.MulConstant(row)
   return near(nn.AddConstant(row):forward(x), x + rows) and near(times:forward(x), torch.cmul(x, rows))
      and near(times:backward(x, x), torch.cmul(x, rows))
end

facts['in place, constants are taken back'] = function()
   for _, m in ipairs{nn.AddConstant(3, true), nn.MulConstant(4, true)} do
      local x = torch.randn(3)
      local before = x:clone()
      local y = m:forward(x)
      if not near(y, x) or near(x, before) then
         return false
      end
      m:backward(x, torch.ones(3))
      if not near(x, before) then
         return false
      end
   end
   return true
end

facts['a decorated class delegates'] = function()
   local class = torch.class('nn.DelegatingFact', 'nn.Container')
   nn.Decorator.decorate(class)
   local m = nn.DelegatingFact()
   m:add(nn.Tanh())
   local x = torch.randn(3)
   return near(m:forward(x), torch.tanh(x)) and tostring(m) == 'nn.DelegatingFact @ nn.Tanh'
end

facts['a class may read and write itself'] = function()
   local class, parent = torch.class('nn.WrittenFact', 'nn.Module')
   function class:write(file)
      self.scratch = nil
      parent.write(self, file)
   end
   function class:read(file)
      parent.read(self, file)
      self.restored = true
   end
   local m = nn.WrittenFact()
   m.scratch, m.kept = 1, 2
   local again = torch.deserialize(torch.serialize(m))
   return again.restored and again.kept == 2 and again.scratch == nil
end

facts['Bottle prints and shares like a container'] = function()
   local m = nn.Bottle(nn.Linear(4, 3))
   return tostring(m) == 'nn.Bottle @ nn.Linear(4 -> 3)' and m:getParameters():nElement() == 15 and m:size() == 1
end

facts['MarginRankingCriterion takes one pair'] = function()
   local c = nn.MarginRankingCriterion(0.5)
   local loss = c:forward({torch.Tensor{1}, torch.Tensor{2}}, 1)
   local gradient = c:backward({torch.Tensor{1}, torch.Tensor{2}}, 1)
   return loss == 1.5 and gradient[1][1] == -1 and gradient[2][1] == 1
end

return facts
