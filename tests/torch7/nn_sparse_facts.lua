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

return facts
