-- Facts about nngraph, each a function that returns true.
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
   return label == string.format('[%s]:%d', debug.getinfo(1, 'S').short_src, line)
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

facts['nodes are named after local variables'] = function()
   local input = nn.Identity()()
   local hidden = nn.Tanh()(input)
   local named = nn.Abs()(hidden):annotate{name = 'mine'}
   nngraph.annotateNodes()
   return input.data.annotations.name == 'input' and hidden.data.annotations.name == 'hidden'
      and named.data.annotations.name == 'mine'
end

facts['annotations reach the picture'] = function()
   local x = nn.Identity()()
   local y = nn.Tanh()(x):annotate{name = 'out', graphAttributes = {color = 'red'}}
   local text = nn.gModule({x}, {y}).fg:todot()
   return text:find('[label="out (1)\\nmodule = nn.Tanh\\l" color=red', 1, true) ~= nil
end

facts['labels tell sizes and what is no number'] = function()
   local node = nngraph.Node{input = {torch.Tensor{0 / 0, 1}, torch.Tensor(2, 3):fill(math.huge), torch.IntTensor{1}}}
   return node:label() == 'input = {Tensor[2]NaN,Tensor[2x3]inf,torch.IntTensor[1]}\\l'
end

facts['simple_print shows modules only'] = function()
   local x = nn.Identity()()
   local a, b = nn.SplitTable(1)(nn.Tanh()(x)):split(2)
   local text = nngraph.simple_print.todot(nn.gModule({x}, {nn.CAddTable()({a, b})}).fg, 'T')
   return text:find('label="T"') and not text:find('Identity') and select(2, text:gsub('%->', '')) == 2
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
