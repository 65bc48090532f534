-- Functions for bridge.nn: a module's parameters by name, whether they have moved, copies that share them, gradients.
require 'nn'
local ffi = require 'ffi'

local autograd = {}

-- Fields that are not parameters but are learnt too.
local statistics = {'running_mean', 'running_var'}

local function children(module)
   local list = {}
   for i, child in ipairs(module.modules or {}) do
      list[i] = {tostring(i - 1), child}
   end
   local names = {}
   for name, value in next, module do
      if type(name) == 'string' and torch.isTypeOf(value, 'nn.Module') then
         names[#names + 1] = name
      end
   end
   table.sort(names)
   for _, name in ipairs(names) do
      list[#list + 1] = {name, module[name]}
   end
   return list
end

-- Call f(module, path) for a module and every module in it, once each. `path` is '' or ends with a dot.
local function walk(net, f)
   local seen = {}
   local function visit(module, path)
      if seen[module] then
         return
      end
      seen[module] = true
      f(module, path)
      for _, child in ipairs(children(module)) do
         visit(child[2], path .. child[1] .. '.')
      end
   end
   visit(net, '')
end

local function parameters(net)
   local values, gradients = net:parameters()
   return values or {}, gradients or {}
end

-- Names for net:parameters(), in the same order: the path to each tensor, such as '0.weight'.
function autograd.names(net)
   local places = {}
   walk(net, function(module, path)
      local fields = {}
      for name, value in next, module do
         if type(name) == 'string' and torch.isTensor(value) then
            fields[#fields + 1] = name
         end
      end
      table.sort(fields)
      for _, name in ipairs(fields) do
         local key = torch.pointer(module[name])
         places[key] = places[key] or path .. name
      end
   end)
   local values, gradients = parameters(net)
   local names = {}
   for i, value in ipairs(values) do
      if not torch.isTensor(value) or not torch.isTensor(gradients[i]) then
         error(string.format('%s has a parameter without a tensor for its gradient', torch.typename(net)), 0)
      end
      names[i] = places[torch.pointer(value)] or 'parameter' .. (i - 1)
   end
   return names
end

function autograd.parameters(net)
   return (parameters(net))
end

-- Names and tensors of the statistics that are learnt besides the parameters.
function autograd.statistics(net)
   local names, tensors = {}, {}
   walk(net, function(module, path)
      for _, name in ipairs(statistics) do
         if torch.isTensor(rawget(module, name)) then
            names[#names + 1] = path .. name
            tensors[#tensors + 1] = module[name]
         end
      end
   end)
   return names, tensors
end

local function firsttype(value)
   if torch.isTensor(value) then
      return value:type()
   elseif type(value) == 'table' then
      for _, inner in ipairs(value) do
         local found = firsttype(inner)
         if found then
            return found
         end
      end
   end
end

-- The tensor type that a module or criterion computes in. `net:type()` cannot be used: nn.Max and others free their
-- buffers in it. Criterions of a real Torch7 have no `_type`: there the type of the gradient is taken, or of a
-- criterion inside.
function autograd.type(net)
   local found = net._type or firsttype(net.gradInput)
   for _, inner in ipairs(found and {} or net.criterions or {net.criterion}) do
      found = found or autograd.type(inner)
   end
   return found or torch.getdefaulttensortype()
end

local function address(tensor)
   return tensor:nElement() > 0 and tonumber(ffi.cast('uintptr_t', torch.data(tensor))) or 0
end

-- A function that returns whether the parameters or statistics have moved in memory since its last call.
function autograd.watch(net)
   local addresses = {}
   return function()
      local values = parameters(net)
      local _, more = autograd.statistics(net)
      local changed = #addresses ~= #values + #more
      for i = 1, #values + #more do
         local now = address(values[i] or more[i - #values])
         changed = changed or addresses[i] ~= now
         addresses[i] = now
      end
      for i = #values + #more + 1, #addresses do
         addresses[i] = nil
      end
      return changed
   end
end

-- Does a module in the net overwrite its input or gradient?
function autograd.inplace(net)
   local found = false
   walk(net, function(module)
      found = found or rawget(module, 'inplace') == true
   end)
   return found
end

local function set(tensors, others)
   for i, tensor in ipairs(tensors) do
      tensor:set(others[i])
   end
end

-- A copy with its own buffers that shares parameters, gradients and statistics.
function autograd.twin(net)
   local copied = net:clone()
   if not torch.isTypeOf(net, 'nn.Module') then
      return copied
   end
   local values, gradients = parameters(net)
   local copiedvalues, copiedgradients = parameters(copied)
   set(copiedvalues, values)
   set(copiedgradients, gradients)
   local _, learnt = autograd.statistics(net)
   local _, copiedlearnt = autograd.statistics(copied)
   set(copiedlearnt, learnt)
   return copied
end

-- The gradient with respect to the input and, with `all`, the parameters' gradients of this call alone, and the
-- parameters' addresses. By these a caller recognises a parameter that is listed several times, as nn.MapTable does.
function autograd.backward(net, input, gradOutput, all)
   if not all then
      return net:updateGradInput(input, gradOutput), {}, {}
   end
   net:zeroGradParameters()
   local gradient = net:backward(input, gradOutput)
   local values, gradients = parameters(net)
   local addresses = {}
   for i, value in ipairs(values) do
      addresses[i] = address(value)
   end
   return gradient, gradients, addresses
end

return autograd
