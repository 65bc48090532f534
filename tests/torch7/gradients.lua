-- How far gradients are from finite differences, and results of one way to use a module from those of another.
-- luacheck: globals seen diamond (constructors of rows call them)
require 'nngraph'
torch.setdefaulttensortype('torch.DoubleTensor')

local checks = {}

-- ---- for constructors of rows

-- A module that has seen an input.
function seen(module, x)
   module:forward(x)
   return module
end

-- Inputs and outputs of a graph in which a node is used twice.
function diamond()
   local x, y = nn.Identity()(), nn.Identity()()
   local h = nn.Tanh()(nn.Linear(4, 3)(x))
   return {x, y}, {nn.CMulTable()({h, nn.Linear(4, 3)(y)}), nn.Square()(h)}
end

-- ----

-- Every number of a tensor or of a table of tensors, as {vector, position}.
local function positions(t, list)
   list = list or {}
   if torch.isTensor(t) then
      local flat = t:nElement() > 0 and t:contiguous():view(t:nElement())
      for i = 1, t:nElement() do list[#list + 1] = {flat, i} end
   else
      for _, inner in ipairs(t) do positions(inner, list) end
   end
   return list
end

local function product(a, b)
   if torch.isTensor(a) then return a:dot(b) end
   local sum = 0
   for i = 1, #a do sum = sum + product(a[i], b[i]) end
   return sum
end

local function like(t)
   if torch.isTensor(t) then return torch.randn(t:size()) end
   local list = {}
   for i = 1, #t do list[i] = like(t[i]) end
   return list
end

-- The largest difference between a gradient and its finite differences, relative to the gradient's size.
local function compare(numbers, gradient, f)
   local worst = 0
   gradient = positions(gradient)
   for k, place in ipairs(numbers) do
      local t, i = place[1], place[2]
      local x, h = t[i], 1e-6
      t[i] = x + h
      local above = f()
      t[i] = x - h
      local slope = (above - f()) / (2 * h)
      t[i] = x
      local analytic = gradient[k][1][gradient[k][2]]
      worst = math.max(worst, math.abs(slope - analytic) / math.max(1, math.abs(analytic)))
   end
   return worst
end

-- What draws random numbers draws the same ones at every pass.
local function forward(module, input)
   torch.manualSeed(12)
   return module:forward(input)
end

-- `of`: what the gradient is of: 'all' inputs, the 'first', or 'parameters' alone.
function checks.gradients(ctor, inputsrc, of)
   torch.manualSeed(11)
   local module = loadstring('return ' .. ctor)()
   local input = loadstring('return ' .. inputsrc)()
   local weights = like(forward(module, input))
   local function loss() return product(forward(module, input), weights) end
   loss()
   module:zeroGradParameters()
   local gradInput = module:backward(input, weights)
   local params, gradParams = module:parameters()
   local worst = compare(positions(params or {}), gradParams or {}, loss)
   if of == 'parameters' then
      return worst
   end
   local numbers = of == 'first' and input[1] or input
   return math.max(worst, compare(positions(numbers), of == 'first' and gradInput[1] or gradInput, loss))
end

-- The same numbers in other memory, or of another type.
local function translated(t, way)
   if not torch.isTensor(t) then
      local list = {}
      for i = 1, #t do list[i] = translated(t[i], way) end
      return list
   elseif way == 'float' then
      return t:float()
   elseif way == 'noncontiguous' then
      local size = t:size():totable()
      size[#size] = 2 * size[#size]
      local wide = torch.Tensor(torch.LongStorage(size)):fill(99)
      local narrow = wide:unfold(#size, 1, 2):select(#size + 1, 1)
      return narrow:copy(t)
   end
   return t
end

local function largest(a, b)
   a, b = positions(a), positions(b)
   if #a ~= #b then return math.huge end
   local worst = 0
   for k = 1, #a do
      local x, y = a[k][1][a[k][2]], b[k][1][b[k][2]]
      worst = math.max(worst, math.abs(x - y) / math.max(1, math.abs(y)))
   end
   return worst
end

-- How far output, gradInput and gradients of the parameters are from those of a plain pass.
function checks.otherwise(ctor, inputsrc, way)
   torch.manualSeed(11)
   local module = loadstring('return ' .. ctor)()
   local input = loadstring('return ' .. inputsrc)()
   local other = module:clone()
   local gradOutput = like(forward(module, input))
   module:zeroGradParameters()
   module:backward(input, gradOutput)
   if way == 'float' then
      other:float()
   elseif way == 'cleared' then
      other:backward(input, like(other:forward(input)))
      other:clearState()
   elseif way == 'cloned' then
      other = module:clone()
   elseif way == 'saved' then
      other = torch.deserialize(torch.serialize(module))
   elseif way == 'evaluated' then
      other:evaluate()
      other:training()
   end
   other:zeroGradParameters()
   input, gradOutput = translated(input, way), translated(gradOutput, way)
   forward(other, input)
   other:backward(input, gradOutput)
   local _, expected = module:parameters()
   local _, gradients = other:parameters()
   return math.max(largest(other.output, module.output), largest(other.gradInput, module.gradInput),
      largest(gradients or {}, expected or {}))
end

-- How far the parameters after accUpdateGradParameters are from those after accGradParameters and updateParameters.
function checks.updated(ctor, inputsrc)
   torch.manualSeed(11)
   local module = loadstring('return ' .. ctor)()
   local input = loadstring('return ' .. inputsrc)()
   local other = module:clone()
   local gradOutput = like(forward(module, input))
   module:zeroGradParameters()
   module:backward(input, gradOutput)
   module:updateParameters(0.1)
   forward(other, input)
   other:backwardUpdate(input, gradOutput, 0.1)
   return largest((other:parameters()) or {}, (module:parameters()) or {})
end

function checks.lossgradients(ctor, inputsrc, targetsrc)
   torch.manualSeed(11)
   local criterion = loadstring('return ' .. ctor)()
   local input = loadstring('return ' .. inputsrc)()
   local target = loadstring('return ' .. targetsrc)()
   local function loss() return (criterion:forward(input, target)) end
   loss()
   return compare(positions(input), criterion:backward(input, target), loss)
end

function checks.lossotherwise(ctor, inputsrc, targetsrc, way)
   torch.manualSeed(11)
   local criterion = loadstring('return ' .. ctor)()
   local input = loadstring('return ' .. inputsrc)()
   local target = loadstring('return ' .. targetsrc)()
   local other = criterion:clone()
   local expected = criterion:forward(input, target)
   local gradInput = criterion:backward(input, target)
   if way == 'float' then
      other:float()
   end
   input = translated(input, way)
   if torch.type(target) == 'torch.DoubleTensor' or type(target) == 'table' then
      target = translated(target, way)
   end
   local loss = other:forward(input, target)
   return math.max(largest(other:backward(input, target), gradInput), math.abs(loss - expected))
end

return checks
