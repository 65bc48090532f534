-- Facts about a graph as one module: types, clones, files, replacing, errors.
require 'nngraph'
local facts = {}

local function close(a, b)
   return (a - b):abs():max() < 1e-12
end

local function linear()
   local x = nn.Identity()()
   return nn.gModule({x}, {nn.Tanh()(nn.Linear(3, 2)(x))})
end

facts['training and evaluate reach modules'] = function()
   local x = nn.Identity()()
   local m = nn.gModule({x}, {nn.Dropout(0.5)(x)})
   m:evaluate()
   local same = m:forward(torch.ones(100)):min() == 1
   m:training()
   return same and m:forward(torch.ones(100)):min() == 0
end

facts['type converts all, and the graph still runs'] = function()
   local m, t = linear(), torch.randn(4, 3)
   local before = m:forward(t):clone()
   m:backward(t, before)
   m:float()
   local after = m:forward(t:float())
   local g = m:backward(t:float(), after)
   return m:type() == 'torch.FloatTensor' and g:type() == 'torch.FloatTensor'
      and (after:double() - before):abs():max() < 1e-6
end

facts['a type that does not exist leaves the graph as it was'] = function()
   local m, t = linear(), torch.randn(4, 3)
   local expected = m:forward(t):clone()
   local ok, message = pcall(m.type, m, 'torch.NoTensor')
   return not ok and message:find('there is no tensor type torch.NoTensor', 1, true) ~= nil
      and close(m:forward(t), expected) and #m.fg.nodes == 5
end

facts['type keeps sharing'] = function()
   local a, x = nn.Linear(2, 2), nn.Identity()()
   local b = a:clone('weight', 'bias')
   local m = nn.gModule({x}, {b(a(x))}):float()
   return m.modules[2].weight:storage() == m.modules[3].weight:storage()
end

facts['a clone is independent'] = function()
   local m, t = linear(), torch.randn(4, 3)
   local c = m:clone()
   m:parameters()[1]:zero()
   return not close(c:forward(t), m:forward(t))
end

facts['a clone with names shares'] = function()
   local m, t = linear(), torch.randn(4, 3)
   local c = m:clone('weight', 'bias', 'gradWeight', 'gradBias')
   m:parameters()[1]:fill(2)
   return close(c:forward(t), m:forward(t)) and c.output ~= m.output
end

facts['share takes another graph\'s tensors'] = function()
   local m, n, t = linear(), linear(), torch.randn(4, 3)
   m:share(n, 'weight', 'bias')
   return close(m:forward(t), n:forward(t))
end

facts['files hold graphs'] = function()
   local m, t = linear(), torch.randn(4, 3)
   m:forward(t)
   for _, mode in ipairs{'binary', 'ascii'} do
      local c = torch.deserialize(torch.serialize(m, mode), mode)
      if not close(c:forward(t), m.output) or c.fg.nodes[1] == m.fg.nodes[1] or #c.modules ~= 3 then
         return false
      end
      c:backward(t, m.output)
   end
   return true
end

facts['files of the first versions have no list of modules and no number of inputs'] = function()
   local m, t = linear(), torch.randn(4, 3)
   local expected = m:forward(t):clone()
   m.modules, m.nInputs = nil, nil
   local c = torch.deserialize(torch.serialize(m))
   return #c.modules == 3 and close(c:forward(t), expected) and #c:parameters() == 2
end

facts['files of the first versions have inputs without a split, and nodes without annotations'] = function()
   local x, y = nn.Identity()(), nn.Identity()()
   local m = nn.gModule({x, y}, {nn.CSubTable()({x, y})})
   local old = torch.setmetatable({verbose = false}, 'nn.gModule')
   local innode, a, b = nngraph.Node{input = {}}, nn.Identity()(), nn.Identity()()
   old.outnode = nngraph.Node{input = {}}
   old.outnode:add(nn.CSubTable()({a, b}), true)
   a:add(innode, true)
   b:add(innode, true)
   old.bg = old.outnode:graph()
   old.fg = old.bg:reverse()
   old.innode = old.fg:roots()[1]
   old.forwardnodes, old.backwardnodes = old.fg:topsort(), old.bg:topsort()
   for _, node in ipairs(old.backwardnodes) do node.data.annotations = nil end
   local c = torch.deserialize(torch.serialize(old))
   local t = {torch.randn(2), torch.randn(2)}
   local g = c:forward(t) and c:backward(t, torch.ones(2))
   return close(c.output, m:forward(t)) and #g == 2 and g[2]:sum() == -2 and #c.modules == 3
      and c.fg:todot():find('Node1', 1, true) ~= nil
end

facts['clearState lets inputs and outputs go'] = function()
   local m, t = linear(), torch.randn(4, 3)
   local expected = m:forward(t):clone()
   m:backward(t, m.output)
   m:clearState()
   local small = true
   for _, node in ipairs(m.forwardnodes) do
      small = small and node.data.input == nil and node.data.gradOutput == nil
   end
   return small and m.output:nElement() == 0 and close(m:forward(t), expected)
end

facts['replace replaces modules in the graph'] = function()
   local m, t = linear(), torch.randn(4, 3)
   m:replace(function(module)
      return torch.type(module) == 'nn.Tanh' and nn.Abs() or module
   end)
   return torch.type(m.modules[3]) == 'nn.Abs' and m:forward(t):min() >= 0 and #m.modules == 3
end

facts['map pairs the modules of two graphs'] = function()
   local m, n, count = linear(), linear(), 0
   m:map(n, function(a, b)
      count = count + (a ~= b and torch.type(a) == torch.type(b) and 1 or 0)
   end)
   return count == 3
end

facts['runForwardFunction calls what it is given'] = function()
   local m, names = linear(), {}
   m:runForwardFunction(function(module, input)
      names[#names + 1] = torch.type(module)
      return input
   end, torch.randn(4, 3))
   return table.concat(names, ' ') == 'nn.Identity nn.Linear nn.Tanh'
end

facts['runForwardFunction takes a method\'s name'] = function()
   local m, t = linear(), torch.randn(4, 3)
   return close(m:runForwardFunction('forward', t), m:forward(t))
end

facts['accUpdateGradParameters changes parameters as an update does'] = function()
   local m, t = linear(), torch.randn(4, 3)
   local c, g = m:clone(), torch.randn(4, 2)
   m:zeroGradParameters()
   m:forward(t)
   m:backward(t, g)
   m:updateParameters(0.1)
   c:forward(t)
   c:backwardUpdate(t, g, 0.1)
   return close(c:parameters()[1], m:parameters()[1]) and close(c:parameters()[2], m:parameters()[2])
end

facts['a gModule prints as its name or its type'] = function()
   local m = linear()
   local before = tostring(m)
   m.name = 'net'
   return before == 'nn.gModule' and tostring(m) == 'net'
end

facts['findModules and apply look into graphs'] = function()
   local m, count = nn.Sequential():add(linear()), 0
   m:apply(function() count = count + 1 end)
   return #m:findModules('nn.Linear') == 1 and count == 5
end

facts['an error leaves the graph usable'] = function()
   local m, t = linear(), torch.randn(4, 3)
   local expected = m:forward(t):clone()
   local ok = pcall(m.forward, m, torch.randn(4, 5))
   return not ok and close(m:forward(t), expected)
end

facts['errors that are tables stay what they are'] = function()
   local thrown, x = {}, nn.Identity()()
   local module = nn.Identity()
   function module.updateOutput() error(thrown) end
   local ok, caught = pcall(function() nn.gModule({x}, {module(x)}):forward(torch.ones(1)) end)
   return not ok and caught == thrown
end

facts['a long chain can be run, cloned and saved'] = function()
   local x = nn.Identity()()
   local y = x
   for _ = 1, 300 do y = nn.AddConstant(1)(y) end
   local m, t = nn.gModule({x}, {y}), torch.zeros(1)
   local saved = torch.deserialize(torch.serialize(m))
   return m:forward(t)[1] == 300 and m:clone():forward(t)[1] == 300 and saved:forward(t)[1] == 300
      and saved:backward(t, torch.ones(1))[1] == 1
end

return facts
