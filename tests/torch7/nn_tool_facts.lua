-- Facts about what comes with nn besides modules: Jacobian, hessian, tables, Kmeans, StochasticGradient.
local checks = ...
local near, printed = checks.near, checks.printed
local facts = {}

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

return facts
