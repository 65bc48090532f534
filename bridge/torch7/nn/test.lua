-- nn.test and nn.testTHNN: self checks that a program may run. Each gives its torch.Tester back.
--
-- nn.test compares modules' gradients with finite differences and sends the modules through a file; nn.testTHNN
-- compares what the native kernels compute with the formulas they stand for.
local PRECISION = 1e-5

-- name -> {make the module, sizes of its input, bounds of the input}
local gradients = {
   Linear = {function() return nn.Linear(5, 3) end, {4, 5}},
   Add = {function() return nn.Add(5) end, {4, 5}},
   CAdd = {function() return nn.CAdd(1, 5) end, {4, 5}},
   Mul = {function() return nn.Mul() end, {4, 5}},
   CMul = {function() return nn.CMul(1, 5) end, {4, 5}},
   PReLU = {function() return nn.PReLU(5) end, {4, 5}},
   Cosine = {function() return nn.Cosine(5, 3) end, {4, 5}},
   Euclidean = {function() return nn.Euclidean(5, 3) end, {4, 5}},
   Tanh = {function() return nn.Tanh() end, {3, 4}},
   Sigmoid = {function() return nn.Sigmoid() end, {3, 4}},
   SoftMax = {function() return nn.SoftMax() end, {3, 4}},
   LogSoftMax = {function() return nn.LogSoftMax() end, {3, 4}},
   SoftPlus = {function() return nn.SoftPlus() end, {3, 4}},
   ELU = {function() return nn.ELU(0.3) end, {3, 4}, -2, -0.1},
   Sqrt = {function() return nn.Sqrt() end, {3, 4}, 0.1, 2},
   Log = {function() return nn.Log() end, {3, 4}, 0.1, 2},
   Square = {function() return nn.Square() end, {3, 4}},
   GatedLinearUnit = {function() return nn.GatedLinearUnit() end, {3, 4}},
   Mean = {function() return nn.Mean(2) end, {3, 4}},
   Sum = {function() return nn.Sum(1) end, {3, 4}},
   View = {function() return nn.View(2, 6) end, {3, 4}},
   Transpose = {function() return nn.Transpose({1, 2}) end, {3, 4}},
   Sequential = {function() return nn.Sequential():add(nn.Linear(5, 3)):add(nn.Tanh()) end, {4, 5}},
   Concat = {function() return nn.Concat(2):add(nn.Linear(5, 3)):add(nn.Tanh()) end, {4, 5}},
   Parallel = {function() return nn.Parallel(1, 1):add(nn.Linear(5, 3)):add(nn.Tanh()) end, {2, 5}},
}

local function gradientcheck(tester, entry)
   return function()
      local module, sizes, minval, maxval = entry[1](), torch.LongStorage(entry[2]), entry[3], entry[4]
      local input = torch.Tensor(sizes):zero()
      tester:assertlt(nn.Jacobian.testJacobian(module, input, minval, maxval), PRECISION, 'error on state')
      local params, gradParams = module:parameters()
      for i, param in ipairs(params or {}) do
         local distance = nn.Jacobian.testJacobianParameters(module, input, param, gradParams[i], minval, maxval)
         tester:assertlt(distance, PRECISION, 'error on parameter ' .. i)
      end
      local forward, backward = nn.Jacobian.testIO(module, input, minval, maxval)
      tester:eq(forward, 0, torch.typename(module) .. ' - i/o forward err')
      tester:eq(backward, 0, torch.typename(module) .. ' - i/o backward err')
   end
end

-- name -> {make the module, its formula for one row of numbers}
local formulas = {
   Sigmoid = {function() return nn.Sigmoid() end, function(row)
      return torch.exp(-row):add(1):pow(-1)
   end},
   Tanh = {function() return nn.Tanh() end, function(row)
      local twice = torch.exp(row * 2)
      return torch.cdiv(torch.add(twice, -1), torch.add(twice, 1))
   end},
   SoftMax = {function() return nn.SoftMax() end, function(row)
      local powers = torch.exp(row)
      return powers:div(powers:sum())
   end},
   LogSoftMax = {function() return nn.LogSoftMax() end, function(row)
      return torch.add(row, -math.log(torch.exp(row):sum()))
   end},
   GatedLinearUnit = {function() return nn.GatedLinearUnit() end, function(row)
      local half = row:size(1) / 2
      return torch.exp(-row:narrow(1, half + 1, half)):add(1):pow(-1):cmul(row:narrow(1, 1, half))
   end},
   Linear = {function() return nn.Linear(6, 4) end, function(row, module)
      local output = module.bias:clone()
      for i = 1, 4 do
         output[i] = output[i] + module.weight[i]:dot(row)
      end
      return output
   end},
}

local function formulacheck(tester, entry)
   return function()
      local module, formula = entry[1](), entry[2]
      local input = torch.randn(5, 6)
      local output = module:forward(input)
      for row = 1, input:size(1) do
         local expected = formula(input[row], module)
         tester:assertlt(torch.add(output[row], -1, expected):abs():max(), 1e-12, 'error on row ' .. row)
      end
   end
end

-- `tests`: the name of one, or a list of names; all without it.
local function run(checks, check, tests, seed)
   seed = seed or torch.seed() % 2 ^ 32
   print('Seed: ', seed)
   math.randomseed(seed)
   torch.manualSeed(seed)
   local tester = torch.Tester()
   local names = {}
   for name in pairs(checks) do
      names[#names + 1] = name
   end
   table.sort(names)
   local suite = torch.TestSuite()
   for _, name in ipairs(names) do
      suite[name] = check(tester, checks[name])
   end
   tester:add(suite)
   tester:run(tests)
   return tester
end

function nn.test(tests, seed)
   return run(gradients, gradientcheck, tests, seed)
end

function nn.testTHNN(tests, seed)
   return run(formulas, formulacheck, tests, seed)
end
