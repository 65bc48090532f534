-- More facts about nn, each a function that returns true: what truth data and gradient checks do not cover.
local facts = {}

local function near(a, b, tolerance)
   return torch.add(a, -1, b):abs():max() < (tolerance or 1e-12)
end

-- Run f with print and io.write taken away; what was printed.
local function printed(f)
   local lines, original = {}, print
   print = function(...) -- luacheck: ignore 121
      local parts = {}
      for i = 1, select('#', ...) do
         parts[i] = tostring((select(i, ...)))
      end
      lines[#lines + 1] = table.concat(parts, '\t')
   end
   local ok, message = pcall(f)
   print = original -- luacheck: ignore 121
   assert(ok, message)
   return lines
end

facts['clearing a SelectTable leaves its input alone'] = function()
   local x = torch.ones(3)
   local m = nn.Sequential():add(nn.SelectTable(1)):add(nn.Tanh())
   m:forward{x}
   m:clearState()
   return x:nElement() == 3 and m:get(1).output:nElement() == 0
end

facts['Jacobian finds both ways equal'] = function()
   local m, x = nn.Linear(4, 3), torch.Tensor(2, 4)
   return nn.Jacobian.testJacobian(m, x) < 1e-7
      and nn.Jacobian.testJacobianParameters(m, x, m.weight, m.gradWeight) < 1e-7
      and nn.Jacobian.testJacobianUpdateParameters(m, x, m.bias) < 1e-7
end

facts['Jacobian finds a wrong gradient'] = function()
   local m = nn.Tanh()
   m.updateGradInput = function(self, _, gradOutput)
      self.gradInput = gradOutput:clone()
      return self.gradInput
   end
   return nn.Jacobian.testJacobian(m, torch.Tensor(3)) > 0.01
end

facts['Jacobian compares ways of updating'] = function()
   local m = nn.Linear(4, 3)
   local errors = nn.Jacobian.testAllUpdate(m, torch.randn(2, 4), 'weight', 'gradWeight')
   return errors.accUpdateGradParameters < 1e-12 and errors['accUpdateGradParameters [shared]'] < 1e-12
end

facts['Jacobian sends modules through a file'] = function()
   local forward, backward = nn.Jacobian.testIO(nn.Linear(4, 3), torch.Tensor(2, 4))
   return forward == 0 and backward == 0
end

facts['SparseJacobian looks at values alone'] = function()
   local m, x = nn.SparseLinear(6, 3, true), torch.Tensor{{1, 0.3}, {4, -1}, {6, 2}}
   return nn.SparseJacobian.forward(m, x):size(1) == 3
      and nn.SparseJacobian.testJacobian(m, x) < 1e-7
      and nn.SparseJacobian.testJacobianParameters(m, x, m.weight, m.gradWeight) < 1e-7
end

facts['hessian gives Linear squares'] = function()
   nn.hessian.enable()
   local m, x = nn.Linear(4, 3), torch.randn(1, 4)
   local d = torch.rand(1, 3)
   m:forward(x)
   m:initDiagHessianParameters()
   local input = m:backwardDiagHessian(x, d)
   local squares = torch.cmul(m.weight, m.weight)
   return near(input, d * squares) and near(m.diagHessianWeight, d:t() * torch.cmul(x, x))
      and near(m.diagHessianBias, d)
end

facts['hessian goes through a network'] = function()
   nn.hessian.enable()
   local net, x = nn.Sequential():add(nn.Linear(4, 3)):add(nn.Tanh()):add(nn.Linear(3, 2)), torch.randn(1, 4)
   local criterion, target = nn.MSECriterion(), torch.zeros(1, 2)
   net:initDiagHessianParameters()
   local _, _, diagonal = net:getParameters()
   criterion:forward(net:forward(x), target)
   net:backwardDiagHessian(x, criterion:backwardDiagHessian(net.output, target))
   return diagonal:nElement() == 23 and diagonal:min() >= 0 and diagonal[23] == 1
end

facts['tables.full connects all'] = function()
   return near(nn.tables.full(2, 2), torch.Tensor{{1, 1}, {2, 1}, {1, 2}, {2, 2}})
end

facts['tables.oneToOne connects equals'] = function()
   return near(nn.tables.oneToOne(2), torch.Tensor{{1, 1}, {2, 2}})
end

facts['tables.random gives each output so many different inputs'] = function()
   local t = nn.tables.random(5, 4, 2)
   for to = 1, 4 do
      local rows = t:narrow(1, 2 * to - 1, 2)
      if rows[1][2] ~= to or rows[2][2] ~= to or rows[1][1] == rows[2][1] then
         return false
      end
   end
   return t:size(1) == 8 and t:select(2, 1):max() <= 5
end

facts['Kmeans finds clusters'] = function()
   torch.manualSeed(2)
   local k, centres = nn.Kmeans(3, 2), torch.Tensor{{0, 0}, {50, 0}, {0, 50}}
   local data = torch.cat({centres[1]:view(1, 2):expand(20, 2), centres[2]:view(1, 2):expand(20, 2),
      centres[3]:view(1, 2):expand(20, 2)}, 1):add(torch.randn(60, 2))
   k:initKmeansPlus(data)
   local first = k:forward(data)
   for _ = 1, 5 do
      k:zeroGradParameters()
      k:forward(data)
      k:backward(data)
      k:updateParameters(1)
   end
   local distances = torch.Tensor(3)
   for i = 1, 3 do
      distances[i] = torch.add(k.weight, -1, centres[i]:view(1, 2):expand(3, 2)):norm(2, 2):min()
   end
   return k:forward(data) <= first and distances:max() < 1.5 and k.clusterSampleCount:sum() == 60
end

facts['StochasticGradient learns and reports'] = function()
   local trainer = nn.StochasticGradient(nn.Linear(2, 1), nn.MSECriterion())
   trainer.maxIteration, trainer.learningRate = 20, 0.1
   local data, losses = {}, {}
   for i = 1, 10 do
      local x = torch.randn(2)
      data[i] = {x, torch.Tensor{x[1] - x[2]}}
   end
   function data:size() return 10 end
   trainer.hookIteration = function(_, i, loss) losses[i] = loss end
   local lines = printed(function() trainer:train(data) end)
   return #losses == 20 and losses[20] < 0.01 * losses[1] and lines[1] == '# StochasticGradient: training'
      and lines[#lines - 1] == '# StochasticGradient: you have reached the maximum number of iterations'
      and lines[#lines] == '# training error = ' .. losses[20] and lines[2] == '# current error = ' .. losses[1]
end

-- The same sparse input for nn.Linear.
local function dense(keys, values)
   local x = torch.zeros(#keys, 10)
   for i = 1, #keys do
      for j = 1, keys[i]:nElement() do
         x[i][keys[i][j]] = values[i][j]
      end
   end
   return x
end

local KEYS = {torch.LongTensor{1, 3}, torch.LongTensor{3, 5, 10}}
local VALUES = {torch.Tensor{1, 2}, torch.Tensor{1, -1, 0.5}}

facts['IndexLinear computes what Linear computes'] = function()
   local sparse, full = nn.IndexLinear(10, 3), nn.Linear(10, 3)
   full.weight:copy(sparse.weight:t())
   full.bias:copy(sparse.bias)
   local x, g = dense(KEYS, VALUES), torch.randn(2, 3)
   local same = near(sparse:forward{KEYS, VALUES}, full:forward(x))
   local joined = {torch.cat(KEYS, 1), torch.cat(VALUES, 1), torch.LongTensor{2, 3}}
   same = same and near(sparse:forward(joined), full.output)
   sparse:zeroGradParameters()
   full:zeroGradParameters()
   sparse:backward(joined, g)
   full:backward(x, g)
   local _, gradients = sparse:parameters()
   same = same and near(gradients[1], full.gradWeight:t()) and near(gradients[2], full.gradBias)
   sparse:updateParameters(0.3)
   full:updateParameters(0.3)
   same = same and near(sparse.weight, full.weight:t()) and near(sparse.bias, full.bias)
   return same and sparse:forward{KEYS[1], VALUES[1]}:dim() == 1
end

facts['IndexLinear gives values a gradient'] = function()
   local sparse, full = nn.IndexLinear(10, 3, true), nn.Linear(10, 3)
   full.weight:copy(sparse.weight:t())
   local x, g = dense(KEYS, VALUES), torch.randn(2, 3)
   sparse:forward{KEYS, VALUES}
   full:forward(x)
   local gradient, expected = sparse:backward({KEYS, VALUES}, g)[2], full:backward(x, g)
   return near(gradient[1], expected[1]:index(1, KEYS[1])) and near(gradient[2], expected[2]:index(1, KEYS[2]))
end

facts['IndexLinear normalizes by the largest seen'] = function()
   local m = nn.IndexLinear(10, 1, false, 0, nil, nil, true)
   local key, weight = torch.LongTensor{4}, m.weight[4][5]
   m:forward{key, torch.Tensor{8}}
   local half = m:forward{key, torch.Tensor{4}}[1] - m.bias[1]
   m:evaluate()
   local clamped = m:forward{key, torch.Tensor{-100}}[1] - m.bias[1]
   return math.abs(half - weight / 2) < 1e-12 and math.abs(clamped + weight) < 1e-12
end

facts['SparseLinear computes what Linear computes'] = function()
   local sparse, full = nn.SparseLinear(10, 3), nn.Linear(10, 3)
   full.weight:copy(sparse.weight)
   full.bias:copy(sparse.bias)
   local list, rows = {}, {}
   for i = 1, 2 do
      list[i] = torch.cat(KEYS[i]:double():view(-1, 1), VALUES[i]:view(-1, 1), 2)
      rows[i] = torch.cat(torch.Tensor(list[i]:size(1), 1):fill(i), list[i], 2)
   end
   local x, g = dense(KEYS, VALUES), torch.randn(2, 3)
   full:forward(x)
   local same = near(sparse:forward(torch.cat(rows, 1)), full.output)
   same = same and near(sparse:forward(list), full.output) and near(sparse:forward(list[2]), full.output[2])
   sparse:zeroGradParameters()
   full:zeroGradParameters()
   sparse:forward(list)
   sparse:backward(list, g)
   full:backward(x, g)
   return same and near(sparse.gradWeight, full.gradWeight) and near(sparse.gradBias, full.gradBias)
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
