-- Facts about modules with sparse input: that they compute what nn.Linear computes.
local near = (...).near
local facts = {}

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

-- The same for nn.SparseLinear.
local function entries()
   local list = {}
   for i = 1, 2 do
      list[i] = torch.cat(KEYS[i]:double():view(-1, 1), VALUES[i]:view(-1, 1), 2)
   end
   return list
end

-- Index 7 with the value 0 is padding.
local LEGACY = torch.Tensor{{{1, 1}, {3, 2}, {7, 0}}, {{3, 1}, {5, -1}, {10, 0.5}}}

facts['IndexLinear computes what Linear computes'] = function()
   local sparse, full = nn.IndexLinear(10, 3), nn.Linear(10, 3)
   sparse:reset()
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
   sparse:reset()
   full.weight:copy(sparse.weight:t())
   local x, g = dense(KEYS, VALUES), torch.randn(2, 3)
   sparse:forward{KEYS, VALUES}
   full:forward(x)
   local gradient, expected = sparse:backward({KEYS, VALUES}, g), full:backward(x, g)
   return near(gradient[2][1], expected[1]) and near(gradient[2][2], expected[2]) and gradient[1][2][10] == 10
end

facts['IndexLinear normalizes by the largest seen'] = function()
   local m = nn.IndexLinear(10, 1, false, 0, nil, nil, true)
   m:reset()
   m:training()
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
   local list = entries()
   local x, g = dense(KEYS, VALUES), torch.randn(2, 3)
   full:forward(x)
   local same = near(sparse:forward(list), full.output) and near(sparse:forward(list[2]), full.output[2])
   sparse:zeroGradParameters()
   full:zeroGradParameters()
   sparse:forward(list)
   sparse:backward(list, g)
   full:backward(x, g)
   return same and near(sparse.gradWeight, full.gradWeight) and near(sparse.gradBias, full.gradBias)
end

facts['a batch of old programs is a tensor'] = function()
   local m = nn.SparseLinear(10, 3, true)
   local output, g = m:forward(entries()):clone(), torch.randn(2, 3)
   m:zeroGradParameters()
   m:backward(entries(), g)
   local gradWeight = m.gradWeight:clone()
   m:zeroGradParameters()
   local same = near(m:forward(LEGACY), output)
   m:accGradParameters(LEGACY, g)
   local gradInput = m:updateGradInput(LEGACY, g)
   return same and m.legacyMode and near(m.gradWeight, gradWeight) and gradInput:dim() == 3
      and gradInput[2][10][1] == 10 and near(gradInput:select(3, 2), g * m.weight)
end

facts['the gradient of sparse vectors is one of all their numbers'] = function()
   local m, g = nn.SparseLinear(10, 3, true), torch.randn(2, 3)
   m:forward(entries())
   local gradInput = m:backward(entries(), g)
   return #gradInput == 2 and gradInput[2]:size(1) == 10 and gradInput[2][10][1] == 10
      and near(gradInput[2]:select(2, 2), (g * m.weight)[2])
end

facts['a single matrix makes a row of its gradOutput'] = function()
   local m, g = nn.SparseLinear(10, 3, true), torch.randn(3)
   local output = m:forward(entries()[1])
   local gradInput = m:backward(entries()[1], g)
   return output:dim() == 1 and g:dim() == 2 and torch.type(gradInput) == 'table' and #gradInput == 1
end

facts['without doGradInput a SparseLinear gives an empty table'] = function()
   local m = nn.SparseLinear(10, 3)
   m:forward(entries())
   return torch.type(m:backward(entries(), torch.randn(2, 3))) == 'table' and next(m.gradInput) == nil
end

facts['one accumulated gradient updates its columns only'] = function()
   local m = nn.SparseLinear(10, 3)
   m:zeroGradParameters()
   m:forward(entries())
   m:backward(entries(), torch.randn(2, 3))
   local once, before = m.sparseUpdate, m.weight:clone()
   m.gradWeight:select(2, 9):fill(1)
   m:updateParameters(0.1)
   local moved = torch.add(m.weight, -1, before):abs():sum(1)[1]
   m:forward(entries())
   local twice = m.sparseUpdate
   m:zeroGradParameters()
   return once == 1 and twice == 2 and moved[9] == 0 and moved[10] > 0 and m.sparseUpdate == 0
      and m.gradWeight:sum() == 0
end

facts['a batch of no sparse vectors gives the bias'] = function()
   local m = nn.SparseLinear(10, 3)
   return near(m:forward{}, m.bias)
end

facts['IndexLinear draws nothing and starts with zeros'] = function()
   torch.manualSeed(5)
   local expected = torch.uniform()
   torch.manualSeed(5)
   local m = nn.IndexLinear(10, 3)
   return torch.uniform() == expected and m.weight:sum() == 0 and m.running.counter == 1 and m.offset == -1
end

facts['IndexLinear takes lists, joined tensors with sizes, and a single sample'] = function()
   local m = nn.IndexLinear(10, 3)
   m:reset()
   local list = m:forward{KEYS, VALUES}:clone()
   local batch = not m.isFlat and not m.noBatch
   local joined = m:forward{torch.cat(KEYS, 1), torch.cat(VALUES, 1), torch.LongTensor{2, 3}}:clone()
   local flat = m.isFlat
   local one = m:forward{torch.cat(KEYS, 1), torch.cat(VALUES, 1), 5}:clone()
   local single = m:forward{KEYS[1], VALUES[1]}
   return batch and flat and m.noBatch and near(list, joined) and one:size(1) == 1 and single:dim() == 1
      and near(single, list[1])
end

facts['a key offset moves keys'] = function()
   local m, moved = nn.IndexLinear(10, 3), nn.IndexLinear(10, 3, false, 1)
   m:reset()
   moved.weight:copy(m.weight)
   moved.bias:copy(m.bias)
   return moved.offset == 0 and near(m:forward{KEYS, VALUES}, moved:forward{{KEYS[1] - 1, KEYS[2] - 1}, VALUES})
end

facts['gradients of all inputs seen since they were zeroed are kept'] = function()
   local m = nn.IndexLinear(10, 3)
   m:zeroGradParameters()
   for _ = 1, 2 do
      m:forward{KEYS, VALUES}
      m:backward({KEYS, VALUES}, torch.ones(2, 3))
   end
   m:updateParameters(1)
   return m.running.counter == 3 and #m.running.gradWeight == 2 and m.running.gradWeight[1]:size(1) == 5
      and near(m.weight[3], torch.Tensor(3):fill(-6)) and near(m.bias, torch.Tensor(3):fill(-4))
end

facts['without :training() nothing is learned of the largest values'] = function()
   local m = nn.IndexLinear(10, 2, false, 0, nil, nil, true)
   m:forward{KEYS, VALUES}
   local before = m.weight[1][1]
   m:training()
   m:forward{KEYS, {VALUES[1] * -4, VALUES[2]}}
   return before == 0 and m.weight[1][1] == 4 and m.weight[1][2] == 0.25 and m.weight[1][3] == 1
end

facts['the gradient of values is refused where they are normalized'] = function()
   local m = nn.IndexLinear(10, 2, true, 0, nil, nil, true)
   m:forward{KEYS, VALUES}
   local ok, message = pcall(m.updateGradInput, m, {KEYS, VALUES}, torch.ones(2, 2))
   return not ok and message:find('updateGradInput is not implemented in max-normalize mode', 1, true) ~= nil
end

facts['normalized keys learn a bias'] = function()
   local m = nn.IndexLinear(10, 2, false, 0, nil, nil, true)
   m:training()
   m.weight:narrow(2, 5, 2):fill(0.5)
   m:forward{KEYS, VALUES}
   m:zeroGradParameters()
   m:backward({KEYS, VALUES}, torch.ones(2, 2))
   m:updateParameters(1)
   local two = m.running.gradWeight[1]:size(2) == 4
   return two and near(m.weight[1], torch.Tensor{1, 1, 1, -1, -0.5, -0.5})
end

facts['weight decay moves what was seen, at once or by accUpdateGradParameters'] = function()
   local a = nn.IndexLinear(10, 2)
   a:reset()
   a.weightDecay = 0.1
   local b = a:clone()
   a:zeroGradParameters()
   for _, m in ipairs{a, b} do
      m:forward{KEYS, VALUES}
   end
   a:accGradParameters({KEYS, VALUES}, torch.ones(2, 2))
   a:updateParameters(0.5)
   b:accUpdateGradParameters({KEYS, VALUES}, torch.ones(2, 2), 0.5)
   return near(a.weight, b.weight) and near(a.bias, b.bias)
end

return facts
