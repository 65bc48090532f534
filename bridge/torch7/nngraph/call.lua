-- What `module(nodes)`, `-module` and `nodes - module` mean: a node that the module makes of those.
local Module = torch.getmetatable('nn.Module')
local Criterion = torch.getmetatable('nn.Criterion')

-- What is wrong with an element of `array` that should be a node.
local function wrong(value, array, index)
   if value == nil then
      return string.format('%s[%d] is nil (typo / bad index?)', array, index)
   elseif torch.isTypeOf(value, 'nn.Module') then
      return string.format('%s[%d] is an nn.Module, specifically a %s, but the only valid thing to pass is an instance '
         .. 'of nngraph.Node. Did you forget a second set of parens, which convert a nn.Module to a nngraph.Node?',
         array, index, torch.typename(value))
   end
   return string.format('%s[%d] should be an nngraph.Node but is of type %s', array, index, torch.type(value))
end

function Module:__call__(...)
   local n, inputs = select('#', ...), (...)
   if n > 1 then
      error('Use {input1, input2} to pass multiple inputs.', 2)
   elseif n == 1 and inputs == nil then
      error(wrong(nil, 'inputs', 1), 2)
   end
   if type(inputs) ~= 'table' or torch.typename(inputs) then
      inputs = {inputs}
   elseif next(inputs) == nil then
      error('cannot pass an empty table of inputs. To indicate no inputs, leave the second pair of parens blank.', 2)
   end
   local node = nngraph.Node{module = self}
   for i = 1, table.maxn(inputs) do
      if not torch.isTypeOf(inputs[i], 'nngraph.Node') then
         error(wrong(inputs[i], 'inputs', i), 2)
      end
      node:add(inputs[i], true)
   end
   return node
end

function Module:__unm__()
   return self()
end

-- The module is on the right; on its left a node or a table of them.
function Module.__sub__(inputs, module)
   if not torch.isTypeOf(module, 'nn.Module') then
      error('on the right of `-`, behind an nngraph.Node, a module is expected, got ' .. torch.type(module), 2)
   end
   return module(inputs)
end
nngraph.Node.__sub__ = Module.__sub__ -- the operand on the left decides

local evaluate = Criterion.__call__

-- A criterion called with nodes is a module of them; else it is evaluated.
function Criterion:__call__(...)
   local inputs = ...
   local first = type(inputs) == 'table' and not torch.typename(inputs) and inputs[1] or inputs
   if select('#', ...) <= 1 and torch.isTypeOf(first, 'nngraph.Node') then
      return nn.ModuleFromCriterion(self)(inputs)
   end
   return evaluate(self, ...)
end

return {wrong = wrong}
