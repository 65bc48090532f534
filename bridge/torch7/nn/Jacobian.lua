-- nn.Jacobian: a module's derivatives, by its own backward pass and by finite differences, and how far they are apart.
local Jacobian = {}
nn.Jacobian = Jacobian

-- All numbers of a tensor as a vector that shares them.
local function flat(tensor)
   return tensor.new(tensor:storage(), tensor:storageOffset(), tensor:nElement())
end

-- Uniform numbers between the bounds (-2 and 2).
local function draw(tensor, minval, maxval)
   minval, maxval = minval or -2, maxval or 2
   tensor:copy(torch.rand(tensor:nElement()):mul(maxval - minval):add(minval))
end

-- A matrix with a column for each number of the output: what `gradient(dout)` gives where that one's gradient is 1.
local function columns(module, input, rows, gradient)
   module:forward(input)
   local dout = module.output.new():resizeAs(module.output)
   local ones = flat(dout)
   local jacobian = torch.Tensor(rows, ones:nElement()):zero()
   for i = 1, ones:nElement() do
      dout:zero()
      ones[i] = 1
      jacobian:select(2, i):copy(gradient(dout))
   end
   return jacobian
end

-- By the backward pass: with respect to the input, or to a parameter whose gradient is `dparam`.
function Jacobian.backward(module, input, param, dparam)
   return columns(module, input, (param or input):nElement(), function(dout)
      module:zeroGradParameters()
      local din = module:updateGradInput(input, dout)
      module:accGradParameters(input, dout)
      return param and dparam or din
   end)
end

-- With respect to a parameter, by what accUpdateGradParameters makes of it.
function Jacobian.backwardUpdate(module, input, param)
   local before = param:clone()
   return columns(module, input, param:nElement(), function(dout)
      param:copy(before)
      module:updateGradInput(input, dout)
      module:accUpdateGradParameters(input, dout, 1)
      local change = torch.add(before, -1, param)
      param:copy(before)
      return change
   end)
end

-- A row for each number of `param`: how the output changes with it.
local function differences(module, input, param, perturbation)
   local small = perturbation or 1e-6
   local numbers = flat(param)
   module:forward(input)
   local jacobian = torch.Tensor(numbers:nElement(), module.output:nElement())
   for i = 1, numbers:nElement() do
      local value = numbers[i]
      numbers[i] = value - small
      local below = module:forward(input):clone()
      numbers[i] = value + small
      local above = module:forward(input)
      jacobian:select(1, i):copy(torch.add(above, -1, below):div(2 * small))
      numbers[i] = value
   end
   return jacobian
end

-- By finite differences: with respect to the input, or to a parameter.
function Jacobian.forward(module, input, param, perturbation)
   return differences(module, input, param or input, perturbation)
end

function Jacobian.forwardUpdate(module, input, param, perturbation)
   return differences(module, input, param, perturbation)
end

-- The largest difference between two matrices.
local function distance(one, other)
   return torch.add(one, -1, other):abs():max()
end

function Jacobian.testJacobian(module, input, minval, maxval, perturbation)
   draw(input, minval, maxval)
   return distance(Jacobian.forward(module, input, input, perturbation), Jacobian.backward(module, input))
end

function Jacobian.testJacobianParameters(module, input, param, dparam, minval, maxval, perturbation)
   draw(input, minval, maxval)
   draw(param, minval, maxval)
   local backward = Jacobian.backward(module, input, param, dparam)
   return distance(Jacobian.forward(module, input, param, perturbation), backward)
end

function Jacobian.testJacobianUpdateParameters(module, input, param, minval, maxval, perturbation)
   draw(input, minval, maxval)
   draw(param, minval, maxval)
   local backward = Jacobian.backwardUpdate(module, input, param)
   return distance(Jacobian.forwardUpdate(module, input, param, perturbation), backward)
end

-- Output and gradient after a trip through a file, against those before: the two largest differences.
function Jacobian.testIO(module, input, minval, maxval)
   draw(input, minval, maxval)
   local gradOutput = module:forward(input):clone():copy(torch.rand(module.output:nElement()))
   local output = module.output:clone()
   module:zeroGradParameters()
   local gradInput = module:backward(input, gradOutput):clone()
   local again = torch.deserialize(torch.serialize(module))
   again:forward(input)
   again:zeroGradParameters()
   again:backward(input, gradOutput)
   return distance(again.output, output), distance(again.gradInput, gradInput)
end

-- A clone of `module` with the parameter shared between it and another clone, if `shared`.
local function pair(module, weight, gradWeight, shared)
   local first = module:clone()
   local second = shared and first:clone(weight, gradWeight) or nil
   return first, second
end

-- accGradParameters with updateParameters, against accUpdateGradParameters, alone and with the parameter shared by two
-- modules: a table of the largest differences.
function Jacobian.testAllUpdate(module, input, weight, gradWeight)
   local lr = torch.uniform(0.1, 1)
   local errors = {}
   local function run(shared)
      local gradOutput = module:forward(input):clone():copy(torch.rand(module.output:nElement()))
      local a, a2 = pair(module, weight, gradWeight, shared)
      local b, b2 = pair(module, weight, gradWeight, shared)
      a:zeroGradParameters()
      for _, one in ipairs{a, a2} do
         one:forward(input)
         one:updateGradInput(input, gradOutput)
         one:accGradParameters(input, gradOutput, lr)
      end
      a[weight]:add(-1, a[gradWeight])
      for _, one in ipairs{b, b2} do
         one:forward(input)
         one:updateGradInput(input, gradOutput)
      end
      for _, one in ipairs{b, b2} do
         one:accUpdateGradParameters(input, gradOutput, lr)
      end
      return distance(a[weight], b[weight])
   end
   errors.accUpdateGradParameters = run(false)
   errors['accUpdateGradParameters [shared]'] = run(true)
   return errors
end

-- The diagonal of the second derivatives (nn.hessian), for a module that is linear in what is asked about: squares of
-- the first ones, weighted by the output's.
function Jacobian.linearModuleDiagHessian(module, input, gradParamName)
   return Jacobian.forwardDiagHessian(module, input, gradParamName)
end

-- By first derivatives: sum over outputs of their squares. `name` is that of the second derivatives' tensor.
function Jacobian.forwardDiagHessian(module, input, name)
   module:forward(input)
   local param = input
   local gradient
   if name == 'diagHessianWeight' then
      param, gradient = module.weight, module.gradWeight
   elseif name == 'diagHessianBias' then
      param, gradient = module.bias, module.gradBias
   end
   local jacobian = Jacobian.backward(module, input, gradient and param, gradient)
   return jacobian:cmul(jacobian):sum(2)
end

-- By nn.hessian, for outputs whose second derivatives are 1.
function Jacobian.backwardDiagHessian(module, input, name)
   module:forward(input)
   local ones = module.output:clone():fill(1)
   module.diagHessianWeight, module.diagHessianBias = nil, nil
   module:initDiagHessianParameters()
   module:updateGradInput(input, ones)
   module:accDiagHessianParameters(input, ones)
   return module:updateDiagHessianInput(input, ones), module[name]
end

function Jacobian.testDiagHessian(module, input, name, minval, maxval)
   draw(input, minval, maxval)
   local _, backward = Jacobian.backwardDiagHessian(module, input, name)
   backward = backward:clone()
   return distance(Jacobian.forwardDiagHessian(module, input, name), backward)
end

function Jacobian.testDiagHessianInput(module, input, minval, maxval)
   return Jacobian.testDiagHessian(module, input, 'diagHessianInput', minval, maxval)
end

function Jacobian.testDiagHessianWeight(module, input, minval, maxval)
   return Jacobian.testDiagHessian(module, input, 'diagHessianWeight', minval, maxval)
end

function Jacobian.testDiagHessianBias(module, input, minval, maxval)
   return Jacobian.testDiagHessian(module, input, 'diagHessianBias', minval, maxval)
end

return Jacobian
