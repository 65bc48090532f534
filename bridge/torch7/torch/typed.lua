-- torch.XTensor.torch: the functions of torch that one element type has; what they make is of that type.
local elements = require 'torch.elements'
local object = require 'torch.object'

-- Functions that make a tensor when their first argument is none.
local makers = {'zeros', 'ones', 'eye', 'range', 'linspace', 'logspace', 'rand', 'randn', 'randperm'}

local function maker(metatable, name, id)
   local method = metatable[name]
   return function(first, ...)
      if object.dtype(first) then
         return method(first, ...)
      end
      return method(object.newtensor(id), first, ...)
   end
end

return function(torch, alone)
   for id = 0, elements.count - 1 do
      local metatable = object.metatables[id]
      local functions = {}
      for name, f in pairs(torch) do
         if type(f) == 'function' and (metatable[name] or alone[id][name]) then
            functions[name] = f
         end
      end
      for _, name in ipairs(makers) do
         functions[name] = metatable[name] and maker(metatable, name, id)
      end
      if id ~= elements.Half.id then
         metatable.torch = functions
      end
   end
end
