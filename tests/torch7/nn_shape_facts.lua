-- Facts about modules that only move data: which objects they give back, and where they look.
local near = (...).near
local facts = {}

facts['a negative offset narrows to what is in front of the part'] = function()
   local x = torch.range(1, 12):view(2, 6)
   local m = nn.Narrow(2, -2, 1)
   local gradInput = m:backward(x, m:forward(x))
   return m.output:size(2) == 5 and m.output[1][5] == 5 and gradInput[1][6] == 0 and gradInput[2][5] == 11
end

facts['a negative length ends as many places from the end'] = function()
   local x = torch.range(1, 6):view(1, 6)
   return nn.Narrow(2, 2, -1):forward(x):size(2) == 5 and nn.Narrow(-1, 2, -3):forward(x):size(2) == 3
end

facts['Narrow takes the type of its input'] = function()
   local x = torch.ones(2, 3):float()
   local m = nn.Narrow(2, 1, 2)
   return m:forward(x):type() == 'torch.FloatTensor' and m:backward(x, m.output):type() == 'torch.FloatTensor'
end

facts['Contiguous gives a contiguous input back itself'] = function()
   local m, x, g = nn.Contiguous(), torch.randn(2, 3), torch.randn(2, 3)
   return m:forward(x) == x and m:backward(x, g) == g
end

facts['Contiguous copies an input with gaps'] = function()
   local m, x = nn.Contiguous(), torch.randn(2, 3):t()
   local y = m:forward(x)
   return y ~= x and y:isContiguous() and near(y, x) and m:backward(x, x):isContiguous()
end

facts['clearing a Contiguous leaves its input alone'] = function()
   local m, x = nn.Contiguous(), torch.randn(2, 3)
   m:forward(x)
   m:clearState()
   return x:nElement() == 6 and m.output:nElement() == 0
end

facts['FlattenTable keeps its list while tensors and structure stay'] = function()
   local m, a, b = nn.FlattenTable(), torch.randn(2), torch.randn(3)
   local list = m:forward{a, {b}}
   local kept = m:forward{a, {b}} == list
   return kept and m:forward{a, {b:clone()}} ~= list and m:forward{{a, b}} ~= list
end

facts['FlattenTable keeps its gradients while tensors stay'] = function()
   local m, a, b = nn.FlattenTable(), torch.randn(2), torch.randn(3)
   m:forward{a, {b}}
   local gradInput = m:backward({a, {b}}, {a, b})
   return m:backward({a, {b}}, {a, b}) == gradInput and m:backward({a, {b}}, {a, b:clone()}) ~= gradInput
      and gradInput[1] == a and gradInput[2][1] == b
end

facts['CReLU takes batches of images'] = function()
   local m, x = nn.CReLU(3), torch.randn(2, 3, 4, 5)
   local y = m:forward(x)
   local expected = torch.cat(torch.cmax(x, 0), torch.cmax(-x, 0), 2)
   local g = torch.randn(2, 6, 4, 5)
   local gradInput = m:backward(x, g)
   local first, second = g:narrow(2, 1, 3), g:narrow(2, 4, 3)
   local slope = torch.cmul(first, x:gt(0):double()):add(-1, torch.cmul(second, x:lt(0):double()))
   return near(y, expected) and near(gradInput, slope)
end

facts['CReLU takes what has more dimensions than it was told as one sample'] = function()
   local y = nn.CReLU(1):forward(torch.randn(2, 3, 4, 5))
   return y:dim() == 4 and y:size(1) == 4
end

facts['DontCast finds the type of a table in nested modules'] = function()
   local pair = nn.ParallelTable():add(nn.Linear(2, 2)):add(nn.Linear(2, 2))
   local m = nn.DontCast(nn.ParallelTable():add(nn.Linear(2, 2)):add(pair), true)
   m:float()
   local function input()
      return {torch.randn(3, 2):float(), {torch.randn(3, 2):float(), torch.randn(3, 2):float()}}
   end
   local x = input()
   local y = m:forward(x)
   local gradInput = m:backward(x, input())
   return m.moduleType == 'torch.DoubleTensor' and y[2][1]:type() == 'torch.FloatTensor'
      and gradInput[2][2]:type() == 'torch.FloatTensor' and pair.output[1]:type() == 'torch.DoubleTensor'
end

facts['DontCast hands an input of the right type through'] = function()
   local m = nn.DontCast(nn.Identity(), true, false, 'torch.DoubleTensor')
   local x = torch.randn(2)
   return m:forward(x) == x and m._input == nil
end

facts['DontCast cannot guess the type of a module without tensors'] = function()
   local empty = nn.Identity()
   empty.output = {}
   local ok, message = pcall(nn.DontCast, empty, true)
   return not ok and message:find('Cannot extrapolate moduleType. Provide constructor argument 4', 1, true) ~= nil
end

facts['PartialLinear has right gradients while its partition changes'] = function()
   local m, x = nn.PartialLinear(4, 6), torch.randn(5, 4)
   local params, gradParams = m:parameters()
   for count = 1, 4 do
      m:setPartition(torch.randperm(6):narrow(1, 1, count))
      local worst = nn.Jacobian.testJacobian(m, x)
      for i = 1, 2 do
         worst = math.max(worst, nn.Jacobian.testJacobianParameters(m, x, params[i], gradParams[i]))
         worst = math.max(worst, nn.Jacobian.testJacobianUpdateParameters(m, x, params[i]))
      end
      if worst > 1e-7 then
         return false
      end
   end
   m:resetPartition()
   return nn.Jacobian.testJacobian(m, x) < 1e-7 and m.buffer:size(1) == 6 and m.addBuffer:sum() == 5
end

return facts
