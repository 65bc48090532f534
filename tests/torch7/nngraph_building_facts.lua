-- Facts about graphs: how nodes are made, what a graph computes and how its gradients travel.
require 'nngraph'
local facts = {}

local function close(a, b)
   return (a - b):abs():max() < 1e-12
end

local function linear()
   local x = nn.Identity()()
   return nn.gModule({x}, {nn.Tanh()(nn.Linear(3, 2)(x))})
end

facts['a call with a node makes a node'] = function()
   local x = nn.Identity()()
   local y = nn.Linear(2, 2)(x)
   return torch.type(y) == 'nngraph.Node' and y.children[1] == x and torch.type(y.data.module) == 'nn.Linear'
end

facts['a node knows where it was made'] = function()
   local line = debug.getinfo(1, 'l').currentline + 1
   local x = nn.Identity()()
   local label = x.data.annotations._debugLabel
   return label == string.format('[%s]:%d_', debug.getinfo(1, 'S').short_src, line)
end

facts['a graph does what its modules do'] = function()
   local m, x = linear(), torch.randn(4, 3)
   local net = nn.Sequential():add(m.modules[2]):add(m.modules[3])
   return close(m:forward(x), net:forward(x):clone())
end

facts['minus makes nodes of modules'] = function()
   local x = - nn.Identity()
   local y = x - nn.Linear(3, 2) - nn.Tanh()
   local z = {x, y} - nn.JoinTable(2)
   local m, t = nn.gModule({x}, {z}), torch.randn(4, 3)
   return m:forward(t):size(2) == 5 and close(m.output:narrow(2, 1, 3), t)
end

facts['one output is a tensor, several are a table'] = function()
   local x = nn.Identity()()
   local one = nn.gModule({x}, {nn.Tanh()(x)})
   x = nn.Identity()()
   local two = nn.gModule({x}, {nn.Tanh()(x), nn.Abs()(x)})
   local t = torch.randn(3)
   return torch.isTensor(one:forward(t)) and #two:forward(t) == 2 and two.output[2]:eq(torch.abs(t)):all()
end

facts['an output may be an input'] = function()
   local x, y = nn.Identity()(), nn.Identity()()
   local m = nn.gModule({x, y}, {y, nn.CAddTable()({x, y})})
   local a, b = torch.randn(2), torch.randn(2)
   local out = m:forward{a, b}
   local g = m:backward({a, b}, {torch.ones(2), torch.ones(2)})
   return out[1] == b and close(out[2], a + b) and g[1]:sum() == 2 and g[2]:sum() == 4
end

facts['gradients of a node that is used twice are summed'] = function()
   local x = nn.Identity()()
   local h = nn.MulConstant(3)(x)
   local m, t = nn.gModule({x}, {nn.CAddTable()({nn.MulConstant(2)(h), nn.MulConstant(5)(h)})}), torch.randn(2)
   m:forward(t)
   local g = torch.ones(2)
   return close(m:backward(t, g), g * 21) and close(m:backward(t, g), g * 21)
end

facts['summing leaves the gradients of the caller alone'] = function()
   local x = nn.Identity()()
   local m, t = nn.gModule({x}, {x, nn.Identity()(x)}), torch.randn(2)
   local g = {torch.ones(2), torch.ones(2)}
   m:forward(t)
   return m:backward(t, g):sum() == 4 and g[1]:sum() == 2 and g[2]:sum() == 2
end

facts['gradients of tables are summed'] = function()
   local x = nn.Identity()()
   local h = nn.Identity()(x)
   local m = nn.gModule({x}, {nn.CAddTable()(h), nn.CSubTable()(h)})
   local t = {torch.randn(2), torch.randn(2)}
   m:forward(t)
   local g = m:backward(t, {torch.ones(2), torch.ones(2)})
   return g[1]:sum() == 4 and g[2]:sum() == 0
end

facts['a module may be at several nodes'] = function()
   local shared, x, y = nn.Linear(2, 2), nn.Identity()(), nn.Identity()()
   local twin = shared:clone('weight', 'bias', 'gradWeight', 'gradBias')
   local m = nn.gModule({x, y}, {nn.CAddTable()({shared(x), twin(y)})})
   local a, b = torch.randn(2), torch.randn(2)
   m:zeroGradParameters()
   m:forward{a, b}
   m:backward({a, b}, torch.ones(2))
   return close(shared.gradBias, torch.ones(2) * 2) and close(shared.gradWeight[1], a + b)
      and m:getParameters():nElement() == 6
end

facts['the same instance at two nodes has its parameters counted once'] = function()
   local shared, x = nn.Linear(2, 2), nn.Identity()()
   local m = nn.gModule({x}, {shared(shared(x))})
   return #m.modules == 3 and m:getParameters():nElement() == 6
end

facts['backward runs all updateGradInput before accGradParameters, outputs first'] = function()
   local log, x = {}, nn.Identity()()
   local function logged(name)
      local module = nn.Identity()
      function module:updateGradInput(_, gradOutput)
         log[#log + 1] = 'g' .. name
         return gradOutput
      end
      function module:accGradParameters(_, _, scale)
         log[#log + 1] = 'a' .. name .. scale
      end
      return module
   end
   local m = nn.gModule({x}, {logged('2')(logged('1')(x))})
   m:forward(torch.ones(1))
   m:backward(torch.ones(1), torch.ones(1), 3)
   return table.concat(log, ' ') == 'g2 g1 a23 a13'
end

facts['modules stand in the order of the outputs\' inputs'] = function()
   local x, y = nn.Identity()(), nn.Identity()()
   local m = nn.gModule({x, y}, {nn.JoinTable(1)({nn.Abs()(y), nn.Tanh()(x)})})
   local names = {}
   for i, module in ipairs(m.modules) do names[i] = torch.type(module):sub(4) end
   return table.concat(names, ' ') == 'Identity Abs Identity Tanh JoinTable'
end

facts['split gives the elements of a table'] = function()
   local x = nn.Identity()()
   local a, b, c = x:split(3)
   local m = nn.gModule({x}, {nn.CAddTable()({a, nn.CMulTable()({b, c})})})
   local t = {torch.randn(2), torch.randn(2), torch.randn(2)}
   m:forward(t)
   local g = m:backward(t, torch.ones(2))
   return close(m.output, t[1] + torch.cmul(t[2], t[3])) and close(g[2], t[3]) and close(g[1], torch.ones(2))
end

facts['split into one takes a table of one'] = function()
   local x = nn.Identity()()
   local m, t = nn.gModule({x}, {nn.Abs()((x:split(1)))}), torch.randn(2)
   m:forward{t}
   local g = m:backward({t}, torch.ones(2))
   return close(m.output, torch.abs(t)) and #g == 1 and close(g[1], torch.sign(t))
end

facts['nest gives tables nested as nodes are'] = function()
   local x, y = nn.Identity()(), nn.Identity()()
   local m = nn.gModule({x, y}, {nngraph.nest{x, {y, {nn.Abs()(x)}}}})
   local a, b = torch.ones(1), torch.ones(1) * -2
   local out = m:forward{a, b}
   local g = m:backward({a, b}, {torch.ones(1), {torch.ones(1) * 5, {torch.ones(1) * 7}}})
   return out[1] == a and out[2][1] == b and out[2][2][1][1] == 1 and g[1][1] == 8 and g[2][1] == 5
end

facts['nest gives a node as it is'] = function()
   local x = nn.Identity()()
   return nngraph.nest(x) == x
end

facts['graphs nest'] = function()
   local inner, x = linear(), nn.Identity()()
   local m, t = nn.gModule({x}, {nn.Abs()(inner(x))}), torch.randn(4, 3)
   m:forward(t)
   local g = m:backward(t, torch.ones(4, 2)):clone()
   local expected = inner:backward(t, torch.sign(inner.output))
   return close(m.output, torch.abs(inner.output)) and close(g, expected) and #m:parameters() == 2
end

facts['a criterion called with nodes is a module'] = function()
   local x, y = nn.Identity()(), nn.Identity()()
   local m = nn.gModule({x, y}, {nn.MSECriterion()({x, y})})
   local out = m:forward{torch.ones(2), torch.zeros(2)}
   return out:nElement() == 1 and math.abs(out[1] - 1) < 1e-12
end

facts['a criterion called with tensors still evaluates'] = function()
   local loss = nn.MSECriterion()(torch.ones(2), torch.zeros(2))
   return math.abs(loss - 1) < 1e-12
end

facts['a node that does not reach the output is an error with its place'] = function()
   local x = nn.Identity()()
   local h = nn.Linear(2, 2)(x)
   local line = debug.getinfo(1, 'l').currentline + 1
   nn.Tanh()(h)
   local ok, message = pcall(nn.gModule, {x}, {nn.Abs()(h)})
   local place = string.format('[%s]:%d_', debug.getinfo(1, 'S').short_src, line)
   return not ok and message:find('node declared on ' .. place .. ' does not connect to gmodule output', 1, true) ~= nil
end

facts['nodes of one graph cannot be a part of another that has fewer'] = function()
   local function nodes()
      local x = nn.Identity()()
      local h = nn.Linear(2, 2)(x)
      return x, h, nn.Tanh()(h)
   end
   local x, h, y = nodes()
   local whole = pcall(nn.gModule, {x}, {h, y})
   x, h = nodes()
   return whole and not pcall(nn.gModule, {x}, {h})
end

facts['a split into another number of elements is refused'] = function()
   local x = nn.Identity()()
   local a, b = x:split(2)
   local m = nn.gModule({x}, {nn.CAddTable()({a, b})})
   local ok, message = pcall(m.forward, m, {torch.ones(2), torch.ones(2), torch.ones(2)})
   return not ok and message:find('split(2) cannot split 3 outputs', 1, true) ~= nil
end

facts['a module without a gradient of its input may follow an Identity'] = function()
   local words, features = nn.Identity()(), nn.Identity()()
   local both = nn.Identity()({words, features})
   local lookup = nn.LookupTable(5, 3)
   lookup.updateGradInput = function() end
   local embedded = nn.ParallelTable():add(lookup):add(nn.Linear(2, 3))(both)
   local m = nn.gModule({words, features}, {nn.CAddTable()(embedded)})
   local input = {torch.Tensor{1, 5}, torch.randn(2, 2)}
   m:zeroGradParameters()
   local y = m:forward(input)
   local gradInput = m:backward(input, torch.ones(2, 3))
   return y:size(2) == 3 and gradInput[1] == nil and gradInput[2]:size(2) == 2 and lookup.gradWeight:sum() == 6
end

facts['an Identity of a table that several modules read sums tables of gradients'] = function()
   local x = nn.Identity()()
   local both = nn.Identity()(x)
   local m = nn.gModule({x}, {nn.CMulTable()(both), nn.SelectTable(2)(both), nn.Identity()(both)})
   local a, b, g = torch.randn(2), torch.randn(2), torch.ones(2)
   m:forward{a, b}
   local gradInput = m:backward({a, b}, {g, g, {g, g}})
   return close(gradInput[1], b + 1) and close(gradInput[2], a + 2)
end

return facts
