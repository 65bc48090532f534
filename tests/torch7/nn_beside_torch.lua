-- A criterion or a module, run once for a comparison with torch: what each gives and its gradients.
-- luacheck: globals diamond (a constructor of a row calls it)
require 'nngraph'

local run = {}

local function build(constructor, kind)
   torch.setdefaulttensortype('torch.DoubleTensor')
   local object = loadstring('return ' .. constructor)()
   return object:type(kind)
end

function run.loss(constructor, input, target)
   local first = torch.isTensor(input) and input or input[1]
   local criterion = build(constructor, first:type())
   local value = criterion:forward(input, target)
   return value, criterion:backward(input, target)
end

-- Inputs and outputs of a graph in which a node is used twice.
function diamond()
   local x, y = nn.Identity()(), nn.Identity()()
   local h = nn.Tanh()(nn.Linear(4, 3)(x))
   return {x, y}, {nn.CMulTable()({h, nn.Linear(4, 3)(y)}), nn.Square()(h)}
end

-- output, gradInput, gradients of parameters; `weights` are the parameters in order.
function run.layer(constructor, kind, input, gradOutput, weights)
   local module = build(constructor, kind)
   local params, gradParams = module:parameters()
   for i, weight in ipairs(weights) do
      params[i]:copy(weight)
   end
   if constructor:find('RReLU') then
      module:evaluate()
   end
   module:zeroGradParameters()
   local output = nn.utils.recursiveCopy(nil, module:forward(input))
   return output, module:backward(input, gradOutput), gradParams or {}
end

return run
