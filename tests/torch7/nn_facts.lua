-- Facts about nn, each a function of a small network and its input that returns true.
local facts = {}

facts['output is reused'] = function(_, x)
   local m = nn.Linear(4, 3)
   local y = m:forward(x)
   return m:forward(x) == y and m.output == y
end

facts['gradInput is reused'] = function(net, x)
   local g = net:backward(x, net:forward(x))
   return net:backward(x, net.output) == g
end

facts['a call forwards'] = function(net, x)
   return net(x) == net.output
end

facts['a call with a gradient goes back too'] = function(net, x)
   net(x)
   local _, g = net(x, net.output)
   return g == net.gradInput
end

facts['#net counts modules'] = function(net)
   return #net == 3 and net:size() == 3
end

facts['get finds a module'] = function(net)
   return net:get(2) == net.modules[2]
end

facts['insert puts a module in between'] = function(net)
   net:insert(nn.ReLU(), 2)
   return torch.type(net:get(2)) == 'nn.ReLU' and #net == 4
end

facts['remove takes the last'] = function(net)
   net:remove()
   return #net == 2 and net.output == net:get(2).output
end

facts['remove takes one by index'] = function(net)
   net:remove(1)
   return torch.type(net:get(1)) == 'nn.Tanh'
end

facts['a Sequential shows its last output'] = function(net, x)
   net:forward(x)
   return net.output == net:get(3).output
end

facts['parameters come in order'] = function(net)
   local p = net:parameters()
   return #p == 4 and p[3] == net:get(3).weight
end

facts['squares are summed without a root between'] = function()
   return nn.MSECriterion(false):forward(torch.ones(2), torch.zeros(2)) == 2
      and nn.MSECriterion(false):forward(torch.ones(3):float(), torch.zeros(3):float()) == 3
end

facts['a module without parameters gives none'] = function()
   return nn.Tanh():parameters() == nil
end

facts['getParameters flattens'] = function(net)
   local p, g = net:getParameters()
   return p:nElement() == 23 and g:nElement() == 23
end

facts['getParameters keeps values'] = function(net)
   local w = net:get(3).weight:clone()
   net:getParameters()
   return w:equal(net:get(3).weight)
end

facts['weights are views of the flat vector'] = function(net)
   local p = net:getParameters()
   p:fill(7)
   return net:get(1).bias:sum() == 21 and net:get(3).weight:sum() == 42
end

facts['gradients are views of the flat vector'] = function(net)
   local _, g = net:getParameters()
   g:fill(7)
   net:zeroGradParameters()
   return g:sum() == 0
end

facts['shared parameters appear once'] = function()
   local a, b = nn.Linear(3, 3), nn.Linear(3, 3)
   b:share(a, 'weight', 'gradWeight')
   local p = nn.Sequential():add(a):add(b):getParameters()
   p:fill(2)
   return p:nElement() == 15 and b.weight:sum() == 18 and b.bias:sum() == 6
end

facts['getParameters can be called again'] = function(net)
   net:getParameters()
   net:clearState()
   local p = net:getParameters()
   p:fill(1)
   return net:get(1).weight:sum() == 12
end

facts['getParameters of an inner module follows the outer one'] = function(net)
   net:getParameters()
   local p = net:get(3):getParameters()
   p:fill(1)
   return p:nElement() == 8 and net:get(3).weight:sum() == 6
end

facts['getParameters of nothing is empty'] = function()
   return nn.Tanh():getParameters():nElement() == 0
end

facts['transposed parameters keep their strides'] = function()
   local a = nn.Linear(3, 2)
   a.weight = torch.range(1,6):resize(3, 2):t()
   a.gradWeight = torch.zeros(3, 2):t()
   a:getParameters()
   return a.weight:stride(1) == 1 and a.weight[1][2] == 3
end

facts['updateParameters steps against the gradient'] = function()
   local m = nn.Linear(2, 2)
   m.weight:fill(1)
   m.gradWeight:fill(2)
   m:updateParameters(0.25)
   return m.weight:sum() == 2
end

facts['training and evaluate reach all'] = function(net)
   net:add(nn.Dropout())
   net:evaluate()
   return net:get(4).train == false
end

facts['dropout leaves evaluation alone'] = function(_, x)
   local d = nn.Dropout(0.5)
   d:evaluate()
   return d:forward(x):equal(x)
end

facts['dropout scales what stays'] = function()
   local y = nn.Dropout(0.5):forward(torch.ones(1000))
   return y:eq(0):sum() + y:eq(2):sum() == 1000
end

facts['type tells the type'] = function(net)
   return net:type() == 'torch.DoubleTensor' and net:float():type() == 'torch.FloatTensor'
end

facts['float converts everything'] = function(net, x)
   net:forward(x)
   net:float()
   return net.output:type() == 'torch.FloatTensor'
      and net:get(1).gradWeight:type() == 'torch.FloatTensor' and net:forward(x:float()):type() == 'torch.FloatTensor'
end

facts['conversion keeps sharing'] = function()
   local a, b = nn.Linear(3, 3), nn.Linear(3, 3)
   b:share(a, 'weight')
   nn.Sequential():add(a):add(b):float()
   a.weight:fill(5)
   return b.weight:sum() == 45
end

facts['conversion keeps the views of the flat vector'] = function(net)
   net:getParameters()
   net:float()
   local p = net:getParameters()
   p:fill(1)
   return net:get(1).weight:sum() == 12
end

facts['clone copies'] = function(net)
   local c = net:clone()
   c:get(1).weight:fill(0)
   return net:get(1).weight:sum() ~= 0
end

facts['clone keeps sharing inside'] = function(net)
   net:getParameters()
   local c = net:clone()
   return c:get(1).weight:storage() == c:get(3).bias:storage()
      and c:get(1).weight:storage() ~= net:get(1).weight:storage()
end

facts['clone can share'] = function(net)
   local c = net:get(1):clone('weight') c.weight:fill(3)
   return net:get(1).weight:sum() == 36
end

facts['share joins whole networks'] = function(net)
   local c = net:clone():share(net, 'weight', 'bias')
   c:get(3).bias:fill(4)
   return net:get(3).bias:sum() == 8
end

facts['accUpdateGradParameters steps at once'] = function(_, x)
   local m = nn.Linear(4, 3)
   local w = m.weight:clone()
   local y = m:forward(x)
   m:zeroGradParameters()
   m:backward(x, y)
   local expected = w - m.gradWeight * 0.5
   m:accUpdateGradParameters(x, y, 0.5)
   return (m.weight - expected):abs():max() < 1e-12
end

facts['listModules lists all, outermost first'] = function(net)
   local l = net:listModules()
   return #l == 4 and l[1] == net
end

facts['findModules finds by type'] = function(net)
   local found, containers = net:findModules('nn.Linear')
   return #found == 2 and containers[2] == net
end

facts['apply reaches all'] = function(net)
   local n = 0
   net:apply(function() n = n + 1 end)
   return n == 4
end

facts['applyToModules reaches the inner ones'] = function(net)
   local n = 0
   net:applyToModules(function() n = n + 1 end)
   return n == 3
end

facts['replace exchanges modules'] = function(net)
   net:replace(function(m) return torch.type(m) == 'nn.Tanh' and nn.ReLU() or m end)
   return torch.type(net:get(2)) == 'nn.ReLU'
end

facts['clearState empties buffers, not weights'] = function(net, x)
   net:forward(x)
   net:clearState()
   return net.output:nElement() == 0 and net:get(1).output:nElement() == 0
      and net:get(1).weight:nElement() == 12 and net:forward(x):nElement() == 10
end

facts['reset draws anew'] = function(net)
   local w = net:get(1).weight:clone()
   net:reset()
   return not w:equal(net:get(1).weight)
end

facts['noBias takes the bias away'] = function()
   return nn.Linear(2, 2):noBias().bias == nil
end

facts['in-place ReLU changes its input'] = function()
   local t = torch.Tensor{-1, 2}
   local y = nn.ReLU(true):forward(t)
   return t[1] == 0 and y:storage() == t:storage()
end

facts['LookupTable takes a matrix'] = function()
   return nn.LookupTable(9, 4):forward(torch.LongTensor{{1,9},{2,2}}):dim() == 3
end

facts['LookupTable gives padding no gradient'] = function()
   local l = nn.LookupTable(3, 2, 2)
   local i = torch.LongTensor{1,2}
   l:zeroGradParameters()
   l:forward(i)
   l:backward(i, torch.ones(2, 2))
   return l.gradWeight[1]:sum() == 2 and l.gradWeight[2]:sum() == 0
end

facts['LookupTable can learn without a gradWeight'] = function()
   local l = nn.LookupTable(3, 2):accUpdateOnly()
   local x, before = torch.Tensor{2, 2}, l.weight:clone()
   l:forward(x)
   l:accUpdateGradParameters(x, torch.ones(2, 2), 0.5)
   return l.gradWeight == nil and math.abs((l.weight - before)[2][1] + 1) < 1e-12 and (l.weight - before)[1][1] == 0
end

facts['LookupTable keeps the indices it copied for its gradient'] = function()
   local l, x = nn.LookupTable(3, 2), torch.Tensor{1, 3}
   l:forward(x)
   local copied = l.copiedInput and l._input:type() == 'torch.LongTensor' and l._count:type() == 'torch.IntTensor'
   x:fill(2)
   l:zeroGradParameters()
   l:accGradParameters(x, torch.ones(2, 2))
   l:forward(torch.LongTensor{1, 2})
   return copied and l.gradWeight[2]:sum() == 0 and l.gradWeight[3]:sum() == 2 and l.copiedInput == false
      and l.shouldScaleGradByFreq == false
end

facts['LookupTable keeps what is in a gradInput of the right size'] = function()
   local l, x = nn.LookupTable(3, 2), torch.LongTensor{1, 3}
   l:forward(x)
   local g = l:updateGradInput(x, torch.ones(2, 2)):fill(7)
   return l:updateGradInput(x, torch.ones(2, 2)) == g and g[1] == 7 and g:type() == 'torch.LongTensor'
      and l:updateGradInput(torch.Tensor{1, 3}):type() == 'torch.DoubleTensor'
end

facts['LookupTable keeps longs when it is converted'] = function()
   local l = nn.LookupTable(3, 2):float()
   l:forward(torch.FloatTensor{1, 2})
   return l._input:type() == 'torch.LongTensor' and l.output:type() == 'torch.FloatTensor'
end

facts['LookupTable limits norms'] = function()
   local l = nn.LookupTable(3, 2, 0, 1)
   l.weight:fill(5)
   l:forward(torch.LongTensor{1})
   return math.abs(l.weight[1]:norm() - 1) < 1e-6 and l.weight[2]:sum() == 10
end

facts['ClassNLLCriterion gives the weight too'] = function()
   local n = select('#', nn.ClassNLLCriterion():forward(torch.randn(2, 3), torch.Tensor{1,2}))
   return n == 2
end

facts['an instance may have its own updateOutput'] = function(net, x)
   net:get(2).updateOutput = function(self, input) self.output = input return input end
   return net:forward(x):nElement() == 10
end

return facts
